#include "flags/filter.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "assay/cli/command.hpp"
#include "assay/conformance/case/former_words.hpp"

namespace assay::cli {
namespace {

/// A value in pieces: texts, and the signs between them.
class Pieces {
 public:
  Pieces(std::string_view flag, const std::string& value) : flag_(flag), value_(value) {}

  bool has_sign() const { return value_.find_first_of("&|!\"") != std::string::npos; }
  bool at_end() {
    skip_blanks();
    return at_ == value_.size();
  }
  /// Whether this sign is next, which is then taken.
  bool take(char sign) {
    skip_blanks();
    if (at_ == value_.size() || value_[at_] != sign) return false;
    ++at_;
    return true;
  }
  std::string text() {
    if (take('"')) return quoted();
    const std::size_t end = std::min(value_.find_first_of("&|\"", at_), value_.size());
    std::string text = value_.substr(at_, end - at_);
    at_ = end;
    text.erase(text.find_last_not_of(' ') + 1);
    return text.empty() ? refuse("a term is empty") : text;
  }
  [[noreturn]] std::string refuse(std::string_view why) const {
    throw UsageError(fmt::format(
        "{} is '{}': {} at character {}; wanted TEXT, or a combination: 'A & !B | \"C & D\"'",
        flag_, value_, why, at_ + 1));
  }

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

}  // namespace

Filter::Filter(std::string_view flag, const std::string& value) {
  Pieces pieces(flag, value);
  if (!pieces.has_sign()) {
    any_ = {{{.text = conformance::spelt_today(value)}}};
    return;
  }
  do {
    auto& all = any_.emplace_back();
    do {
      const bool wanted = !pieces.take('!');
      all.push_back({.text = conformance::spelt_today(pieces.text()), .wanted = wanted});
    } while (pieces.take('&'));
  } while (pieces.take('|'));
  if (!pieces.at_end()) pieces.refuse("no & or | stands between two terms");
}

bool Filter::holds(std::string_view text) const {
  return std::ranges::any_of(any_, [&](const auto& all) {
    return std::ranges::all_of(all, [&](const Term& term) {
      return (text.find(term.text) != std::string_view::npos) == term.wanted;
    });
  });
}

}  // namespace assay::cli
