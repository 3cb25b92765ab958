#include "flags/filter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "assay/cli/command.hpp"

namespace assay::cli {
namespace {

/// A value in pieces: texts, and the signs between them.
class Pieces {
 public:
  Pieces(std::string_view flag, const std::string& value) : flag_(flag), value_(value) {}

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
      else if (std::string_view("&|\")").find(letter) != std::string_view::npos)
        break;
    }
    if (!open.empty()) refuse_open(open.back());
    std::string text = value_.substr(begin, at_ - begin);
    text.erase(text.find_last_not_of(' ') + 1);
    return text.empty() ? refuse("a term is empty") : text;
  }
  [[noreturn]] std::string refuse(std::string_view why, std::optional<std::size_t> at = {}) const {
    throw UsageError(
        fmt::format("{} is '{}': {} at character {}; wanted TEXT, or a combination: 'A & !(B | "
                    "\"C & D\")'",
                    flag_, value_, why, at.value_or(at_) + 1));
  }
  [[noreturn]] void refuse_open(std::size_t at) const { refuse("a parenthesis is open", at); }

 private:
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
  std::size_t at_ = 0;
};

using Question = std::function<bool(std::string_view text)>;

Question holds_text(const std::string& words) {
  return
      [part = words](std::string_view text) { return text.find(part) != std::string_view::npos; };
}

Question alternatives(Pieces& pieces, int depth);

/// A text, or what stands in parentheses; behind an exclamation mark the contrary.
Question term(Pieces& pieces, int depth) {
  constexpr int deepest = 64;
  if (depth > deepest) pieces.refuse(fmt::format("terms nest deeper than {} levels", deepest));
  if (pieces.take('!'))
    return [inner = term(pieces, depth + 1)](std::string_view text) { return !inner(text); };
  if (!pieces.take('(')) return holds_text(pieces.text());
  const std::size_t opened = pieces.place() - 1;
  Question inner = alternatives(pieces, depth + 1);
  if (pieces.at_end()) pieces.refuse_open(opened);
  if (!pieces.take(')')) pieces.refuse("no & or | stands between two terms");
  return inner;
}

/// What stands between such signs, one after the other.
std::vector<Question> parted_by(char sign, Question (*part)(Pieces&, int), Pieces& pieces,
                                int depth) {
  std::vector<Question> parts;
  do {
    parts.push_back(part(pieces, depth));
  } while (pieces.take(sign));
  return parts;
}

Question combination(Pieces& pieces, int depth) {
  return [all = parted_by('&', term, pieces, depth)](std::string_view text) {
    return std::ranges::all_of(all, [&](const Question& one) { return one(text); });
  };
}

Question alternatives(Pieces& pieces, int depth) {
  return [any = parted_by('|', combination, pieces, depth)](std::string_view text) {
    return std::ranges::any_of(any, [&](const Question& one) { return one(text); });
  };
}

}  // namespace

Filter::Filter(std::string_view flag, const std::string& value) {
  Pieces pieces(flag, value);
  if (!pieces.has_sign()) {
    holds_ = holds_text(value);
    return;
  }
  holds_ = alternatives(pieces, 0);
  if (pieces.at_end()) return;
  const std::size_t at = pieces.place();
  pieces.refuse(
      pieces.take(')') ? "a parenthesis closes none" : "no & or | stands between two terms", at);
}

}  // namespace assay::cli
