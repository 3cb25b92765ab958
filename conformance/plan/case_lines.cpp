#include "assay/conformance/plan/case_lines.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace assay::conformance {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  return text.substr(0, text.find_last_not_of(blanks) + 1);
}

/// Returns the note in a comment line. "# text" is a note for the cases that follow. "## text" is a
/// heading, which ends the note.
std::string note_of(std::string_view line) {
  return line.starts_with("##") ? std::string() : std::string(trimmed(line.substr(1)));
}

/// Returns the name of a published model. In a file models.txt, a note starts with this name and a
/// colon. Empty if there is no such name.
std::string model_of(const CaseText& text, const std::string& note) {
  const std::size_t colon = note.find(':');
  if (!text.name.ends_with("/models.txt") || colon == note.npos) return {};
  return note.substr(0, colon);
}

/// A section header contains phrases such as "full plan", which set properties of the lines after
/// it. Applies one phrase. Returns false for an unknown phrase.
bool read_phrase(std::string_view phrase, CaseLine& below) {
  if (phrase == "every plan")
    below.in_ordinary_plan = below.in_full_plan = true;
  else if (phrase == "ordinary plan")
    below.in_full_plan = false;
  else if (phrase == "full plan")
    below.in_ordinary_plan = false;
  else if (phrase == "fixed seed")
    below.follows_seed = false;
  else
    return false;
  return true;
}

/// Parses a section header such as "[full plan, fixed seed]".
void read_section(std::string_view line, CaseLine& below) {
  const std::string place = below.place;
  below = {.place = place};
  const auto refused = [&](std::string_view what) {
    return std::invalid_argument(place + ": '" + std::string(what) +
                                 "': accepted: [every plan], [ordinary plan] or [full plan], each "
                                 "with or without ', fixed seed'");
  };
  if (!line.ends_with(']')) throw refused(line);
  line = line.substr(1, line.size() - 2);
  while (true) {
    const std::size_t comma = line.find(',');
    const std::string_view phrase = trimmed(line.substr(0, comma));
    if (!read_phrase(phrase, below)) throw refused(phrase);
    if (comma == line.npos) break;
    line.remove_prefix(comma + 1);
  }
  if (!below.in_ordinary_plan && !below.in_full_plan) throw refused("ordinary plan, full plan");
}

/// Removes the part of a command that is quoted with apostrophes (a program or implementation).
/// Spaces in this part do not separate words.
std::string_view without_quoted(std::string_view line) {
  constexpr std::string_view end = "' run ", begin = " --implementation='";
  if (const auto at = line.find(end); line.starts_with('\'') && at != line.npos)
    line.remove_prefix(at + end.size());
  return line.ends_with('\'') ? line.substr(0, line.find(begin, 1)) : line;
}

}  // namespace

std::vector<std::string> words_of_line(const std::string& line) {
  std::istringstream stream{std::string(without_quoted(trimmed(line)))};
  std::vector<std::string> words(std::istream_iterator<std::string>(stream), {});
  for (std::string& word : words)  // a printed command quotes a formula
    if (word.starts_with("'--variant=") && word.ends_with('\''))
      word = word.substr(1, word.size() - 2);
  if (words.size() > 2 && words[1] == "run") words.erase(words.begin(), words.begin() + 2);
  if (words.size() > 1 && words.back().starts_with("--implementation=")) words.pop_back();
  return words;
}

std::vector<CaseLine> case_lines(const CaseText& text) {
  std::vector<CaseLine> lines;
  CaseLine next;
  std::istringstream stream(text.text);
  std::int64_t number = 0;
  for (std::string whole; std::getline(stream, whole);) {
    next.place = text.name + ":" + std::to_string(++number);
    const std::string_view line = trimmed(whole);
    if (line.empty()) continue;
    if (line.starts_with('#')) {
      next.note = note_of(line);
      next.model = model_of(text, next.note);
    } else if (line.starts_with('[')) {
      read_section(line, next);
    } else {
      next.words = words_of_line(whole);
      lines.push_back(next);
    }
  }
  return lines;
}

}  // namespace assay::conformance
