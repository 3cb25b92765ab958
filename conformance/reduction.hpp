#pragma once

#include <span>
#include <string_view>
#include <type_traits>
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

/// The reductions in the order in which they are tried.
std::span<const Reduction<spec::FlashAttentionScoreGrad>> reductions(
    std::type_identity<spec::FlashAttentionScoreGrad>);

/// Fields that only the reductions change: their default is not what is smallest or plainest.
std::span<const std::string_view> fields_of_reductions(std::type_identity<spec::FlashAttentionScoreGrad>);

/// Values from `least` to `value`, without it: doubled ones first, since small cases are judged quickly, then what halves
/// the rest.
std::vector<std::int64_t> values_below(std::int64_t value, std::int64_t least);

}  // namespace assay::conformance
