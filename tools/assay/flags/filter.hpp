#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace assay::cli {

/// What --only asks of a text: that it holds another one, or a combination of such questions.
///
/// "A & !(B | C) | D": it holds A and neither B nor C, or it holds D. Blanks around the signs are
/// none of the texts; a text with a sign in it, or with blanks at its ends beside one, stands in
/// "double quotes". Without a sign, the whole of it is one text, blanks and all.
class Filter {
 public:
  /// Errors: UsageError naming the flag, its value, the place, and the term that is empty, the
  /// quote that is open, or the parenthesis that lacks its other one.
  Filter(std::string_view flag, const std::string& value);

  bool holds(std::string_view text) const { return holds_(text); }

 private:
  std::function<bool(std::string_view text)> holds_;
};

}  // namespace assay::cli
