#include "filter/filter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "assay/cli/command.hpp"
#include "assay/conformance/result/printable.hpp"
#include "assay/spec/operators.hpp"
#include "guide/guide.hpp"

namespace assay::cli {
namespace {

using conformance::FieldTerm;

/// Splits a filter of --only into field terms, texts, and the operators between them.
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
  /// If `sign` is the next character, skips it and returns true.
  bool take(char sign) {
    skip_blanks();
    if (at_ == value_.size() || value_[at_] != sign) return false;
    ++at_;
    return true;
  }
  /// If `word` (and, or, not) is the next operator, skips it and returns true. The word counts as
  /// an operator only next to a field term, a flag, a quote or a parenthesis.
  bool take_word(std::string_view word) {
    skip_blanks();
    if (field_terms_ > 0 ? word_end(at_, word) == 0 : !is_word_at(at_, word)) return false;
    at_ += word.size();
    ++words_;
    return true;
  }
  /// Reads a field term such as head_dim>=64. The term ends at a blank, at an operator sign, or at
  /// the end of the filter.
  std::optional<FieldTerm> field_term() {
    skip_blanks();
    const auto read = field_term_at(at_);
    if (!read) return {};
    at_ += read->second;
    ++field_terms_;
    return read->first;
  }
  bool is_condition() const { return field_terms_ + words_ > 0; }
  bool begins_with_field_term() { return field_term_at(value_.find_first_not_of(' ')).has_value(); }
  /// Returns whether the next piece is a field term, `not`, or an opening parenthesis.
  bool is_at_next_term() {
    skip_blanks();
    return (field_terms_ > 0 && at_ < value_.size() && value_[at_] == '(') || begins_term(at_);
  }
  /// Reads a text to search for. Parentheses inside the text must be balanced, as they are in the
  /// notes of cases.
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
    if (text.empty()) refuse("a term is empty");
    require_field(text, begin);
    return text;
  }
  /// Reports an error for a field term with an unknown field. It cannot be a text to search for,
  /// because no replay line contains it.
  void require_field(const std::string& text, std::size_t at) const {
    const std::string name = conformance::compared_name(text);
    if (name.empty() || std::ranges::find(names_, name) != names_.end()) return;
    const std::string guess = meant(name, names_);
    throw UsageError(fmt::format(
        "{} is '{}': no planned case has a field '{}' (character {}){} 'assay run OPERATOR --help' "
        "lists the fields; put literal text into double quotes",
        flag_, shown(), name, at + 1, guess.empty() ? ";" : guess));
  }
  /// Returns the value of the flag, shortened for error messages.
  std::string shown() const { return conformance::excerpt(value_, 200); }
  [[noreturn]] std::string refuse(std::string_view why, std::optional<std::size_t> at = {}) const {
    throw UsageError(fmt::format(
        "{} is '{}': {} at character {}; expected TEXT, a field and its value, such as "
        "head_dim>=64, or a combination: 'dtype=bf16 and not (sparse_mode=2 or \"a note\")'",
        flag_, shown(), why, at.value_or(at_) + 1));
  }
  [[noreturn]] void refuse_open(std::size_t at) const { refuse("a parenthesis is not closed", at); }
  /// Throws an error because wrong text follows a complete term. Only `and`, `or` or the end of the
  /// filter may follow. The message names the reason.
  [[noreturn]] void refuse_next() const {
    if (value_[at_] == ')') refuse("this parenthesis has no opening parenthesis");
    std::string rest = value_.substr(at_);
    rest.erase(rest.find_last_not_of(" \t\n") + 1);
    for (const std::string word : {"and", "or"})
      if (rest == word) refuse("no term follows '" + word + "'");
    refuse("'and' or 'or' is missing between terms");
  }

 private:
  std::optional<FieldTerm::Read> field_term_at(std::size_t at) const {
    if (at >= value_.size()) return {};
    auto read = FieldTerm::read(std::string_view(value_).substr(at));
    const auto is_known = [&](const std::string& name) {
      return name == "strides" || std::ranges::find(names_, name) != names_.end();
    };
    if (!read || !std::ranges::all_of(read->first.fields(), is_known)) return {};
    const std::size_t end = at + read->second;
    const bool is_whole = end == value_.size() || is_blank(value_[end]) ||
                          std::string_view("&|!)").find(value_[end]) != std::string_view::npos;
    return is_whole ? read : std::nullopt;
  }
  static bool is_blank(char letter) { return letter == ' ' || letter == '\t' || letter == '\n'; }
  /// Returns the position after `word` and the blanks that follow it. Returns 0 if `word` is not at
  /// this position, or if nothing follows it.
  std::size_t word_end(std::size_t at, std::string_view word) const {
    if (at + word.size() > value_.size()) return 0;
    for (std::size_t k = 0; k < word.size(); ++k)
      if (value_[at + k] != word[k] && value_[at + k] != word[k] - 'a' + 'A') return 0;
    std::size_t next = at + word.size();
    const bool is_apart = next < value_.size() && (is_blank(value_[next]) || value_[next] == '(');
    while (next < value_.size() && is_blank(value_[next])) ++next;
    return is_apart && next < value_.size() ? next : 0;
  }
  bool begins_term(std::size_t at) const { return field_term_at(at) || is_word_at(at, "not"); }
  /// Returns whether `word` at this position is an operator. This depends on the text after the
  /// word.
  bool is_word_at(std::size_t at, std::string_view word) const {
    std::size_t next = word_end(at, word);
    if (next == 0) return false;
    while (const std::size_t further = word_end(next, "not")) next = further;
    return value_[next] == '(' || value_[next] == '"' || value_.compare(next, 2, "--") == 0 ||
           field_term_at(next);
  }
  void skip_blanks() { at_ = std::min(value_.find_first_not_of(" \t\n", at_), value_.size()); }
  std::string quoted() {
    const std::size_t end = value_.find('"', at_);
    if (end == std::string::npos) refuse("a quote is not closed");
    if (end == at_) refuse("a term is empty");
    std::string text = value_.substr(at_, end - at_);
    at_ = end + 1;
    return text;
  }

  std::string_view flag_;
  const std::string& value_;
  const std::vector<std::string>& names_;
  std::size_t at_ = 0, field_terms_ = 0, words_ = 0;
};

using Question = std::function<bool(const Searched&)>;

/// Returns a condition on the text of a case. If the text is the name of an operator, the condition
/// compares the operator of the case instead, because one name may be a part of another.
Question holds_text(const std::string& words) {
  bool is_operator = false;
  spec::for_each_operator([&]<class Op> { is_operator = is_operator || words == Op::name; });
  if (is_operator)
    return [words](const Searched& searched) {
      return std::ranges::find(searched.fields, std::pair<std::string, std::string>(
                                                    "operator", words)) != searched.fields.end();
    };
  return [words](const Searched& searched) { return searched.text.find(words) != words.npos; };
}

Question alternatives(Pieces& pieces, int depth);

/// Parses a field term, a text, or an expression in parentheses. An exclamation mark or `not`
/// negates it.
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
  if (!pieces.take(')')) pieces.refuse_next();
  return inner;
}

/// Parses operands that are separated by one operator. `goes_on` skips the operator and returns
/// true if it comes next.
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
    return pieces.take('&') || pieces.take_word("and") || pieces.is_at_next_term();
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

Filter::Filter(std::string_view flag, const std::string& value, std::vector<std::string> names)
    : text_(value) {
  Pieces pieces(flag, value, names);
  if (!pieces.has_sign()) {
    holds_ = holds_text(value);
    if (value.find_first_not_of(' ') == value.npos) return;
    const bool is_text = !pieces.begins_with_field_term();
    Question terms = alternatives(pieces, 0);
    if (pieces.is_condition() && pieces.at_end()) holds_ = std::move(terms);
    if (is_text || pieces.at_end()) return;
  } else {
    holds_ = alternatives(pieces, 0);
  }
  if (pieces.at_end()) return;
  pieces.refuse_next();
}

}  // namespace assay::cli
