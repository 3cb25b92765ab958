#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/conformance/result/field_term.hpp"

namespace assay::cli {

/// The texts and fields of a case that --only searches.
struct Searched {
  std::string text;  ///< the replay line with all defaults, and the note
  conformance::CaseFields fields;
};

/// The condition of --only on a case. It requires that the text of the case contains a given text,
/// or that its fields satisfy a field term (field_term.hpp), or a combination of such conditions.
///
/// Example: "A & !(B | C) | D" selects a case that contains A and neither B nor C, or that contains
/// D. Blanks around the operators are not part of the texts. A text that contains an operator, or
/// has blanks at its ends next to one, must be in "double quotes". Without an operator, the whole
/// value is one text, including blanks. Next to a field term, the words `and`, `or` and `not` are
/// also operators, and a blank between two field terms means `and`.
class Filter {
 public:
  /// Every case satisfies the condition.
  Filter() = default;
  /// `names`: the names of the existing fields. Errors: UsageError naming the flag, its value, the
  /// position, and the error: an empty term, an unclosed quote or an unbalanced parenthesis.
  Filter(std::string_view flag, const std::string& value, std::vector<std::string> names);

  bool holds(const Searched& searched) const { return !holds_ || holds_(searched); }
  /// Returns the condition as the user wrote it.
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::function<bool(const Searched&)> holds_;
};

}  // namespace assay::cli
