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

/// A condition on cases, given with --only. It can require that the text of a case contains a given
/// text, that a field of the case satisfies a field term (field_term.hpp), or a combination of
/// both.
///
/// Example: "A & !(B | C) | D" selects a case that contains A and neither B nor C, or that contains
/// D. Blanks around the operators are not part of the texts. A text must be in "double quotes" if
/// it contains an operator, or if it begins or ends with a blank next to an operator. Without an
/// operator, the whole value is one text, including its blanks. Next to a field term, the words
/// `and`, `or` and `not` are also operators, and a blank between two field terms means `and`.
class Filter {
 public:
  /// Makes a condition that every case satisfies.
  Filter() = default;
  /// `names` lists the existing fields. Errors: UsageError for an empty term, an unclosed quote or
  /// an unbalanced parenthesis. The message names the flag, its value and the position of the
  /// error.
  Filter(std::string_view flag, const std::string& value, std::vector<std::string> names);

  bool holds(const Searched& searched) const { return !holds_ || holds_(searched); }
  /// Returns the text of the condition as the user wrote it.
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::function<bool(const Searched&)> holds_;
};

}  // namespace assay::cli
