#include "filter/filter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "assay/cli/command.hpp"

namespace assay::cli {
namespace {

/// A value in pieces: terms of fields, texts, and the signs between them.
class Pieces {
 public:
  Pieces(std::string_view flag, const std::string& value, const std::vector<std::string>& known)
      : flag_(flag), value_(value), names_(known) {}

  bool has_sign() const { return value_.find_first_of("&|!\"()") != std::string::npos; }
  bool at_end() {
    skip_blanks();
    return at_ == value_.size();
  }
  std::size_t place() const { return at_; }
  /// Whether this sign is next, which is then taken.
  bool take(char sign) {
    skip_blanks();
    if (at_ == value_.size() || value_[at_] != sign) return false;
    ++at_;
    return true;
  }
  /// Whether this word is next, in front of a term of a field; the word is then taken.
  bool take_word(std::string_view word) {
    skip_blanks();
    if (!is_word_at(at_, word)) return false;
    at_ += word.size();
    return true;
  }
  /// A term of a field with an end behind it.
  std::optional<FieldTerm> field_term() {
    skip_blanks();
    const auto read = field_term_at(at_);
    if (!read) return {};
    at_ += read->second;
    ++field_terms_;
    return read->first;
  }
  bool has_field_terms() const { return field_terms_ > 0; }
  /// Whether a term of a field is next, or its contrary.
  bool is_at_field_term() {
    skip_blanks();
    return begins_term(at_);
  }
  /// In a text parentheses stand in pairs, as notes have them.
  std::string text() {
    if (take('"')) return quoted();
    const std::size_t begin = at_;
    std::vector<std::size_t> open;
    for (; at_ < value_.size(); ++at_) {
      const char letter = value_[at_];
      if (letter == '(')
        open.push_back(at_);
      else if (letter == ')' && !open.empty())
        open.pop_back();
      else if (std::string_view("&|\")").find(letter) != std::string_view::npos ||
               (letter == ' ' && (is_word_at(at_ + 1, "and") || is_word_at(at_ + 1, "or"))))
        break;
    }
    if (!open.empty()) refuse_open(open.back());
    std::string text = value_.substr(begin, at_ - begin);
    text.erase(text.find_last_not_of(' ') + 1);
    return text.empty() ? refuse("a term is empty") : text;
  }
  [[noreturn]] std::string refuse(std::string_view why, std::optional<std::size_t> at = {}) const {
    throw UsageError(
        fmt::format("{} is '{}': {} at character {}; wanted TEXT, a field and its value, such as "
                    "head_dim>=64, or a combination: 'A & !(B | \"C & D\")'",
                    flag_, value_, why, at.value_or(at_) + 1));
  }
  [[noreturn]] void refuse_open(std::size_t at) const { refuse("a parenthesis is open", at); }

 private:
  std::optional<FieldTerm::Read> field_term_at(std::size_t at) const {
    auto read = FieldTerm::read(std::string_view(value_).substr(at), names_);
    if (!read) return {};
    const std::size_t end = at + read->second;
    const bool is_whole = end == value_.size() ||
                          std::string_view(" &|!)").find(value_[end]) != std::string_view::npos;
    return is_whole ? read : std::nullopt;
  }
  /// Behind `not`, a parenthesis may begin the term as well.
  bool begins_term(std::size_t at) const { return field_term_at(at) || is_word_at(at, "not"); }
  bool is_word_at(std::size_t at, std::string_view word) const {
    if (!std::string_view(value_).substr(std::min(at, value_.size())).starts_with(word))
      return false;
    const std::size_t end = at + word.size();
    const std::size_t next = value_.find_first_not_of(' ', end);
    if (next == value_.npos || (next == end && value_[next] != '(')) return false;
    return value_[next] == '(' ||
           (word == "not" ? field_term_at(next).has_value() : begins_term(next));
  }
  void skip_blanks() { at_ = std::min(value_.find_first_not_of(' ', at_), value_.size()); }
  std::string quoted() {
    const std::size_t end = value_.find('"', at_);
    if (end == std::string::npos) refuse("a quote is open");
    if (end == at_) refuse("a term is empty");
    std::string text = value_.substr(at_, end - at_);
    at_ = end + 1;
    return text;
  }

  std::string_view flag_;
  const std::string& value_;
  const std::vector<std::string>& names_;
  std::size_t at_ = 0, field_terms_ = 0;
};

using Question = std::function<bool(const Searched&)>;

Question holds_text(const std::string& words) {
  return [words](const Searched& searched) { return searched.text.find(words) != words.npos; };
}

Question alternatives(Pieces& pieces, int depth);

/// A term of a field, a text, or what stands in parentheses; behind an exclamation mark the
/// contrary.
Question term(Pieces& pieces, int depth) {
  constexpr int deepest = 64;
  if (depth > deepest) pieces.refuse(fmt::format("terms nest deeper than {} levels", deepest));
  if (pieces.take('!') || pieces.take_word("not"))
    return [inner = term(pieces, depth + 1)](const Searched& searched) { return !inner(searched); };
  if (!pieces.take('(')) {
    if (const auto field = pieces.field_term())
      return [field](const Searched& searched) { return field->holds(searched.fields); };
    return holds_text(pieces.text());
  }
  const std::size_t opened = pieces.place() - 1;
  Question inner = alternatives(pieces, depth + 1);
  if (pieces.at_end()) pieces.refuse_open(opened);
  if (!pieces.take(')')) pieces.refuse("no & or | stands between two terms");
  return inner;
}

/// What stands between such signs, one after the other; `goes_on` takes the next sign.
std::vector<Question> parted_by(const std::function<bool()>& goes_on,
                                Question (*part)(Pieces&, int), Pieces& pieces, int depth) {
  std::vector<Question> parts;
  do {
    parts.push_back(part(pieces, depth));
  } while (goes_on());
  return parts;
}

Question combination(Pieces& pieces, int depth) {
  const auto goes_on = [&] {
    return pieces.take('&') || pieces.take_word("and") || pieces.is_at_field_term();
  };
  return [all = parted_by(goes_on, term, pieces, depth)](const Searched& searched) {
    return std::ranges::all_of(all, [&](const Question& one) { return one(searched); });
  };
}

Question alternatives(Pieces& pieces, int depth) {
  const auto goes_on = [&] { return pieces.take('|') || pieces.take_word("or"); };
  return [any = parted_by(goes_on, combination, pieces, depth)](const Searched& searched) {
    return std::ranges::any_of(any, [&](const Question& one) { return one(searched); });
  };
}

}  // namespace

Filter::Filter(std::string_view flag, const std::string& value, std::vector<std::string> names) {
  Pieces pieces(flag, value, names);
  if (!pieces.has_sign()) {
    holds_ = holds_text(value);
    if (value.find_first_not_of(' ') == value.npos) return;
    Question terms = alternatives(pieces, 0);
    if (pieces.has_field_terms() && pieces.at_end()) holds_ = std::move(terms);
    return;
  }
  holds_ = alternatives(pieces, 0);
  if (pieces.at_end()) return;
  const std::size_t at = pieces.place();
  pieces.refuse(
      pieces.take(')') ? "a parenthesis closes none" : "no & or | stands between two terms", at);
}

}  // namespace assay::cli
