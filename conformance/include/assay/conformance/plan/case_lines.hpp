#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "assay/conformance/case/case.hpp"

/// Hand-made cases are lines of text: cases/README.md says how they are written.
namespace assay::conformance {

/// A text of hand-made cases, and the path by which errors speak of it.
struct CaseText {
  std::string name, text;
};

/// A replay line of such a text, and what the lines above say of it.
struct CaseLine {
  std::string place;               ///< "cases/OPERATOR/corners.txt:12"
  std::vector<std::string> words;  ///< the operator's name first
  std::string note;
  bool in_ordinary_plan = true, in_full_plan = true;
  bool follows_seed = true;  ///< the sweep's seed moves that of the case
};

/// Returns the words of a case. Of a command that replays it, "PROGRAM run CASE
/// --implementation=NAME", what stands around them says nothing of the case and is left out.
std::vector<std::string> words_of_line(const std::string& line);

/// Returns the replay lines of a text. Errors: std::invalid_argument naming the text, the line, and
/// the words that are no section.
std::vector<CaseLine> case_lines(const CaseText& text);

/// Returns the case of a line. Errors: std::invalid_argument naming the line's place and the word.
template <class Op>
Case<Op> case_of(const CaseLine& line) {
  const std::vector<std::string>& words = line.words;
  try {
    if (words.front() != Op::name)
      throw std::invalid_argument("'" + words.front() + "': accepted: " + std::string(Op::name));
    Case<Op> c = parse_case<Op>({words.begin() + 1, words.end()});
    c.note = line.note;
    return c;
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(line.place + ": " + error.what());
  }
}

/// Returns the files of cases/ as they were at build time, their paths from the repository's root.
const std::vector<CaseText>& shipped_case_texts();

}  // namespace assay::conformance
