#pragma once

#include <string_view>
#include <vector>

#include "assay/conformance/case.hpp"

namespace assay::conformance {

/// A way to make a case smaller, by fields that hang together.
template <class Op>
struct Reduction {
  std::string_view name;
  /// Cases that are smaller than `c`, what is hoped for first; they need not be legal, nor different from each other.
  std::vector<Case<Op>> (*smaller)(const Case<Op>& c);
};

/// Values from `least` to `value`, without it: doubled ones first, since small cases are judged quickly, then what halves
/// the rest.
std::vector<std::int64_t> values_below(std::int64_t value, std::int64_t least);

}  // namespace assay::conformance
