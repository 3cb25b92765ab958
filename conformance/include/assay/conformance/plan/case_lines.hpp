#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "assay/conformance/case/case.hpp"

/// Reads cases that people write by hand, as lines of text. cases/README.md describes the format.
namespace assay::conformance {

/// A text with hand-written cases, and its path for error messages.
struct CaseText {
  std::string name, text;
};

/// A replay line (the text of one case), and the properties that preceding lines declare for it.
struct CaseLine {
  std::string place;               ///< file and line: "cases/OPERATOR/corners.txt:12"
  std::vector<std::string> words;  ///< the operator's name first
  std::string note;
  std::string model;  ///< "BERT-base" for the note "BERT-base: batch 1" in a file models.txt
  bool in_ordinary_plan = true, in_full_plan = true;
  bool follows_seed = true;  ///< the seed of the sweep changes the case's seed
};

/// Returns the words of a case. If the line is a complete command, "PROGRAM run CASE
/// --implementation=NAME", returns only the words of CASE.
std::vector<std::string> words_of_line(const std::string& line);

/// Returns the replay lines of a text. Errors: std::invalid_argument with the text, the line, and
/// the words that do not name a section.
std::vector<CaseLine> case_lines(const CaseText& text);

/// Parses the case in a line. Errors: std::invalid_argument with the file and line, and the word.
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

/// Returns the files of cases/ with their contents at build time. Their paths are relative to the
/// repository root.
const std::vector<CaseText>& shipped_case_texts();

}  // namespace assay::conformance
