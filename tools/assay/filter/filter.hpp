#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/conformance/result/field_term.hpp"

namespace assay::cli {

/// What --only looks at.
struct Searched {
  std::string text;  ///< the replay line, its defaults, the note
  conformance::CaseFields fields;
};

/// What --only asks of a case: that its text holds another one, that its fields compare as a term
/// says (field_term.hpp), or a combination of such questions.
///
/// "A & !(B | C) | D": it holds A and neither B nor C, or it holds D. Blanks around the signs are
/// none of the texts; a text with a sign in it, or with blanks at its ends next to one, stands in
/// "double quotes". Without a sign, the whole of it is one text, blanks and all. Next to a term of
/// a field the words `and`, `or` and `not` are signs, too, and a blank between two of them is
/// `and`.
class Filter {
 public:
  /// `names`: of fields. Errors: UsageError naming the flag, its value, the place, and the term
  /// that is empty, the quote that is open, or the parenthesis that lacks its other one.
  Filter(std::string_view flag, const std::string& value, std::vector<std::string> names);

  bool holds(const Searched& searched) const { return holds_(searched); }

 private:
  std::function<bool(const Searched&)> holds_;
};

}  // namespace assay::cli
