#include "case/case.hpp"

#include <algorithm>
#include <cstdint>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "assay/conformance/case/nearest.hpp"
#include "assay/conformance/case/shell_word.hpp"
#include "case/limits.hpp"

namespace assay::conformance {
namespace detail {

std::vector<std::string_view> items_of(std::string_view text) {
  std::vector<std::string_view> items;
  if (text.empty()) return items;
  for (std::size_t comma = text.find(','); comma != text.npos; comma = text.find(',')) {
    items.push_back(text.substr(0, comma));
    text.remove_prefix(comma + 1);
  }
  items.push_back(text);
  return items;
}

void refuse_field(const std::string& word, const std::vector<std::string>& fields) {
  const std::string name = word.substr(0, word.find('=')), guess = nearest(name, fields);
  std::string all;
  for (const std::string& field : fields) all += (all.empty() ? "" : ", ") + field;
  throw std::invalid_argument("'" + word + "': no field is called " + name.substr(2) +
                              (guess.empty() ? "" : "; did you mean '" + guess + "'?") +
                              (guess.empty() ? "; the fields are " : " The fields are ") + all);
}

spec::Strides parse_strides(std::string_view field, std::string_view text,
                            const std::vector<std::string_view>& tensors) {
  const auto& spellings = spec::spellings_of<spec::Striding>;
  const auto refuse_text = [&] {
    std::string names;
    for (const std::string_view name : tensors)
      names += (names.empty() ? "" : ", ") + std::string(name);
    refuse(field, std::string(text),
           spellings.choices() +
               " for all tensors; or NAME:STRIDING for single tensors, separated " +
               "by commas, such as padded or padded," + std::string(tensors.front()) +
               ":transposed; the names are " + names);
  };
  spec::Strides strides;
  std::vector<std::string_view> seen;
  for (const std::string_view item : items_of(text)) {
    const std::size_t colon = item.find(':');
    const bool named = colon != std::string_view::npos;
    const auto striding = spellings.parse(named ? item.substr(colon + 1) : item);
    const std::string_view name = named ? item.substr(0, colon) : "";
    const bool known = std::ranges::find(tensors, name) != tensors.end();
    const bool repeated = std::ranges::find(seen, name) != seen.end();
    if (!striding || repeated || (named ? !known : !seen.empty())) refuse_text();
    seen.push_back(name);
    if (named)
      strides.set(name, *striding);
    else
      strides = *striding;
  }
  if (seen.empty()) refuse_text();
  return strides;
}

}  // namespace detail

std::string list_text(const std::vector<std::int64_t>& values) {
  std::string text;
  for (auto run = values.begin(); run != values.end();) {
    const auto end = std::find_if(run, values.end(), [&](std::int64_t v) { return v != *run; });
    if (!text.empty()) text += ',';
    if (end - run > 1) text += detail::number_text(end - run) + 'x';
    text += detail::number_text(*run);
    run = end;
  }
  return text;
}

namespace {

/// Characters that need no quotes in any shell.
constexpr std::string_view plain =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./:,=@%";

/// Returns whether a shell passes the text on unchanged: no character needs quotes, or `shell_word`
/// already quoted it.
bool means_itself(std::string_view text, bool with_blanks) {
  bool quoted = false;
  for (std::size_t k = 0; k < text.size(); ++k) {
    const char letter = text[k];
    if (letter == '\'')
      quoted = !quoted;
    else if (!quoted && letter == '\\' && text.substr(k + 1).starts_with('\''))
      ++k;
    else if (!quoted && !(with_blanks && letter == ' ') && plain.find(letter) == plain.npos)
      return false;
  }
  return !quoted;
}

}  // namespace

std::string shell_word(const std::string& text) {
  if (text.find_first_not_of(plain) == std::string::npos) return text;
  std::string word = "'";
  for (const char letter : text)
    word += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return word + '\'';
}

std::string pasteable_word(const std::string& text) {
  return means_itself(text, false) ? text : shell_word(text);
}

std::string pasteable_words(const std::string& text) {
  if (means_itself(text, true)) return text;
  std::istringstream words(text);
  std::string line;
  for (std::string word; words >> word;) line += (line.empty() ? "" : " ") + pasteable_word(word);
  return line;
}

std::string replay_command(const std::string& command_line, const std::string& implementation) {
  return "assay run " + pasteable_words(command_line) +
         " --implementation=" + shell_word(implementation);
}

namespace {

/// One step of SplitMix64: every bit of the result depends on every bit of x.
constexpr std::uint64_t spread(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace

std::vector<std::string> case_words(const std::string& command_line,
                                    std::string_view operator_name) {
  std::istringstream stream(command_line);
  std::string word;
  stream >> word;
  if (word != operator_name)
    throw std::invalid_argument("replay line '" + command_line + "' is for operator '" + word +
                                "'; expected '" + std::string(operator_name) + "'");
  std::vector<std::string> words;
  while (stream >> word) {
    // Removes the shell quotes around a word that contains a formula. A printed command has these
    // quotes.
    const bool is_quoted = word.size() > 1 && word.front() == '\'' && word.back() == '\'';
    words.push_back(is_quoted ? word.substr(1, word.size() - 2) : word);
  }
  return words;
}

std::string case_id(std::string_view command_line) {
  std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
  for (const char letter : command_line)
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3u;
  constexpr std::string_view digits = "0123456789abcdef";
  std::string id;
  for (std::uint64_t bits = spread(spread(hash)); id.size() < 12; bits >>= 4)
    id += digits[bits & 0xf];
  return id;
}

std::string_view requirement_named_in(std::string_view way) { return way.substr(0, way.find(':')); }

namespace {

/// Splits a list at commas; a blank after a comma is removed.
std::vector<std::string> listed(const std::string& list) {
  std::vector<std::string> words;
  for (const std::string_view item : detail::items_of(list))
    words.emplace_back(item.substr(std::min(item.find_first_not_of(' '), item.size())));
  return words;
}

bool is_letter(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
}

/// Returns a hint such as "did you mean 'fp32'? " if an accepted word resembles the value;
/// otherwise an empty text.
std::string guess_of(const std::string& value, const std::string& accepted) {
  if (value.empty() || !is_letter(value.front())) return {};
  const std::string guess = nearest(value, listed(accepted));
  return guess.empty() ? "" : "did you mean '" + guess + "'? ";
}

}  // namespace

void refuse(std::string_view field, const std::string& value, const std::string& accepted,
            const std::string& next) {
  throw std::invalid_argument("--" + std::string(field) + "=" + value + ": " +
                              guess_of(value, accepted) + "accepted: " + accepted +
                              (next.empty() ? "" : "; " + next));
}

void refuse_integer(std::string_view field, const std::string& text, const std::string& accepted) {
  const bool is_word = !text.empty() && is_letter(text.front());
  throw std::invalid_argument("--" + std::string(field) + "=" + text +
                              (is_word ? " is not a number: " : ": ") + "accepted: " + accepted);
}

void refuse_alone(std::string_view field, const std::string& value, const std::string& lack,
                  const std::string& next) {
  throw std::invalid_argument("--" + std::string(field) + "=" + value + " " + lack + ": " + next);
}

}  // namespace assay::conformance
