#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <type_traits>

#include "assay/conformance/operators/nsa_selected_attention_grad.hpp"
#include "case/limits.hpp"

namespace assay::conformance {

std::span<const FieldRange> field_ranges(std::type_identity<spec::NsaSelectedAttentionGrad>);

/// Estimate of what a case with numbers needs, in bytes: its inputs and the copy that a kernel is
/// lent, a copy in double of every one that is multiplied, its outputs, those of a second run and
/// untouched ones, and what the forward leaves.
double memory_estimate(const spec::NsaSelectedAttentionGrad::Problem& problem);

/// Sets in `implied` the fields that the lengths of `given` imply: batch, seq_q, seq_kv. The replay
/// line leaves them out.
void imply_extents(const spec::NsaSelectedAttentionGrad::Problem& given,
                   spec::NsaSelectedAttentionGrad::Problem& implied);

/// Sets batch, seq_q and seq_kv from the lengths where there are any; equal lengths become seq_q or
/// seq_kv alone. `given` tells which fields the user wrote. Errors: std::invalid_argument where
/// they contradict the lengths.
void settle_extents(spec::NsaSelectedAttentionGrad::Problem& problem,
                    const std::function<bool(std::string_view)>& given);

/// Refuses combinations of fields that no tensors can be made of.
/// Errors: std::invalid_argument naming the field, its value and what is accepted.
void require_possible(const Case<spec::NsaSelectedAttentionGrad>& c);

}  // namespace assay::conformance
