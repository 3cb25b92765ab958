#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay::cli {

/// What --only asks of a text: that it holds another one, or a combination of such questions.
///
/// "A & !B | C": it holds A and not B, or it holds C. Blanks around the signs are none of the
/// texts; a text with a sign in it, or with blanks at its ends beside one, stands in "double
/// quotes". Without a sign, the whole of it is one text, blanks and all.
class Filter {
 public:
  /// Errors: UsageError naming the flag, its value and the term that is empty, or the quote that
  /// is open.
  Filter(std::string_view flag, const std::string& value);

  bool holds(std::string_view text) const;

 private:
  struct Term {
    std::string text;
    bool wanted = true;
  };
  std::vector<std::vector<Term>> any_;  ///< of which one has to hold, all of its terms
};

}  // namespace assay::cli
