#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include "assay/conformance/case.hpp"

namespace assay::conformance {

/// The values that an integer field of a case may take.
struct FieldRange {
  std::string_view name;
  std::int64_t first, last;
};
std::span<const FieldRange> field_ranges(std::type_identity<spec::FlashAttentionScoreGrad>);

/// Largest memory that a case with numbers may need, in bytes.
inline constexpr double memory_limit = 16.0 * 1024 * 1024 * 1024;

/// Estimate of what a case with numbers needs, in bytes: its tensors and a copy of each in double.
double memory_estimate(const spec::FlashAttentionScoreGrad::Problem& problem);

/// Refuses combinations of fields that no tensors can be made of.
/// Errors: std::invalid_argument naming the field, its value and what is accepted.
void require_possible(const Case<spec::FlashAttentionScoreGrad>& c);

}  // namespace assay::conformance
