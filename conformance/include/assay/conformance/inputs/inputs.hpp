#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "assay/spec/call.hpp"
#include "assay/spec/tensor.hpp"

namespace assay::conformance {

/// A named way to fill the tensors, in one sentence.
struct InputProfile {
  std::string_view name, sentence;
};

/// The input profiles of an operator, and the named contents of each pattern of its cases.
template <class Op>
std::span<const InputProfile> profiles();
/// A pattern of an operator's cases and the contents that it can name.
struct PatternNames {
  std::string_view field;  ///< of Patterns<Op>
  std::span<const InputProfile> names;
};
template <class Op>
std::vector<PatternNames> pattern_names();

/// A tensor as `parameter` describes it; its whole storage holds the guard pattern of its type, a
/// NaN for floats.
spec::Tensor guarded_tensor(const spec::Parameter& parameter);

/// The rows that are judged, ascending: all, or the first, the last, those at tile edges and random
/// ones.
std::vector<std::int64_t> judged_rows(std::int64_t extent, std::int64_t wanted, std::uint64_t seed);

}  // namespace assay::conformance
