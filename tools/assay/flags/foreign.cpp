#include "flags/foreign.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <vector>

#include "assay/conformance/case/shell_word.hpp"
#include "assay/fixtures/record.hpp"
#include "flags/values.hpp"
#include "guide/guide.hpp"

namespace assay::cli {
namespace {

const std::vector<std::string> schemes = {"aclnn", "plugin", "command"};

}  // namespace

std::optional<Foreign> foreign(const std::string& name) {
  const std::size_t colon = name.find(':');
  if (colon == std::string::npos) return std::nullopt;
  return Foreign{.scheme = name.substr(0, colon), .rest = name.substr(colon + 1)};
}

void require_scheme(const Foreign& foreign, const std::string& flag) {
  if (std::ranges::find(schemes, foreign.scheme) != schemes.end()) return;
  const std::string name = foreign.scheme + ":" + foreign.rest;
  if (foreign.scheme == "python" || foreign.scheme.ends_with(".py")) {
    std::string function = foreign.scheme == "python" ? foreign.rest : name;
    if (function.find(':') == std::string::npos) function += ":FUNCTION";
    throw UsageError(
        fmt::format("{} is '{}', a Python function: write 'command:python3 -m assay serve {}', "
                    "where python3 must have the package assay installed",
                    flag, name, function));
  }
  throw UsageError(fmt::format("{} is '{}'{}", flag, name,
                               one_of(foreign.scheme, schemes,
                                      "a name that is not registered must start "
                                      "with")));
}

std::string content_digest(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (!file) throw UsageError(path.string() + " cannot be read, so its digest cannot be computed");
  return fixtures::digest(std::as_bytes(std::span(bytes)));
}

namespace {

bool is_file(const std::filesystem::path& path) {
  std::error_code none;
  return std::filesystem::is_regular_file(path, none);
}

/// Returns the path FILE if the word has the form "FILE" or "FILE:NAME" and the file exists.
/// Otherwise returns an empty path.
std::filesystem::path file_of(const std::string& word) {
  if (is_file(word)) return word;
  const std::string before = word.substr(0, word.rfind(':'));
  return is_file(before) ? before : "";
}

/// A word of an implementation name after the scheme, and the characters directly before and after
/// the word.
struct Word {
  std::string text;
  char before = ' ', after = ' ';
  char quote = 0;  ///< the quote in which it stands; 0: none
};

/// Splits a text at blanks, commas, `=` and quotes. The words together with their separators form
/// the whole text.
std::vector<Word> words_of(const std::string& text) {
  std::vector<Word> words;
  char quote = 0;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t end = std::min(text.find_first_of(" ,='\"", from), text.size());
    const char after = end < text.size() ? text[end] : ' ';
    words.push_back(
        {text.substr(from, end - from), from == 0 ? ' ' : text[from - 1], after, quote});
    if (after == '\'' || after == '"') quote = quote == 0 ? after : quote == after ? 0 : quote;
    from = end + 1;
  }
  return words;
}

/// Returns the absolute path, quoted if needed, for use in a command. If the needed quotes cannot
/// be added, returns the unchanged word.
std::string quoted_path(const std::string& path, const Word& word, const std::string& scheme) {
  const bool is_plain = conformance::shell_word(path) == path;
  if (scheme != "command" || is_plain) return path;
  if (path.find_first_of("'\"\\$`") != std::string::npos) return word.text;
  if (word.quote != 0) return path;
  return word.before == ' ' && word.after == ' ' ? "'" + path + "'" : word.text;
}

}  // namespace

std::string fingerprint(const std::string& name) {
  const auto known = foreign(name);
  if (!known) return "";
  std::string text;
  for (const Word& word : words_of(known->rest))
    if (const std::filesystem::path path = file_of(word.text); !path.empty())
      text += fmt::format(" {} {}", path.string(), content_digest(path));
  return text;
}

std::string with_absolute_paths(const std::string& name) {
  const auto known = foreign(name);
  if (!known || std::ranges::find(schemes, known->scheme) == schemes.end()) return name;
  const std::vector<Word> words = words_of(known->rest);
  std::string text = known->scheme + ":";
  bool is_program = known->scheme == "command";  // the next word is the program
  for (std::size_t k = 0; k < words.size(); ++k) {
    const Word& word = words[k];
    // The first word of a command is a program; if it has no slash, the system searches it in PATH.
    // Other words are paths only if they contain a slash or a dot: "serve" is not a file.
    const bool is_path =
        word.text.find_first_of(is_program && word.before != '=' ? "/" : "/.") != std::string::npos;
    const bool is_whole =
        word.quote == 0 || (word.before == word.quote && word.after == word.quote);
    const std::filesystem::path file = word.text;
    const bool is_changed = is_whole && file.is_relative() && !file_of(word.text).empty() &&
                            (known->scheme != "command" || is_path);
    text += is_changed ? quoted_path(std::filesystem::absolute(file).lexically_normal().string(),
                                     word, known->scheme)
                       : word.text;
    if (!word.text.empty() && word.before == ' ' && word.after != '=') is_program = false;
    if (k + 1 < words.size()) text += word.after;
  }
  return text;
}

}  // namespace assay::cli
