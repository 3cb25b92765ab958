#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <type_traits>

#include "assay/conformance/operators/flash_attention_score_grad.hpp"
#include "case/limits.hpp"

namespace assay::conformance {

std::span<const FieldRange> field_ranges(std::type_identity<spec::FlashAttentionScoreGrad>);

/// Estimate of what a case with numbers needs, in bytes: its inputs and the copy that a kernel is
/// lent, a copy in double of every one that is multiplied, its outputs, those of a second run and
/// untouched ones, and what the forward leaves.
double memory_estimate(const spec::FlashAttentionScoreGrad::Problem& problem);

/// Sets in `implied` the fields that the lengths of `given` imply: batch, seq_q, seq_kv. The replay
/// line leaves them out.
void imply_extents(const spec::FlashAttentionScoreGrad::Problem& given,
                   spec::FlashAttentionScoreGrad::Problem& implied);

/// Sets batch, seq_q and seq_kv from the lengths where there are any; equal lengths become seq_q or
/// seq_kv alone. `given` tells which fields the user wrote. Errors: std::invalid_argument where
/// they contradict the lengths, or for lengths in another layout than TND.
void settle_extents(spec::FlashAttentionScoreGrad::Problem& problem,
                    const std::function<bool(std::string_view)>& given);

/// Refuses combinations of fields that no tensors can be made of, or that the entry point has no
/// parameter for.
/// Errors: std::invalid_argument naming the field, its value and what is accepted.
void require_possible(const Case<spec::FlashAttentionScoreGrad>& c);

}  // namespace assay::conformance
