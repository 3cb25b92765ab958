#pragma once

#include <functional>
#include <span>
#include <type_traits>

#include "assay/conformance/operators/nsa_compress_grad.hpp"
#include "case/limits.hpp"

namespace assay::conformance {

std::span<const FieldRange> field_ranges(std::type_identity<spec::NsaCompressGrad>);

/// Estimate of what a case with numbers needs, in bytes.
double memory_estimate(const Case<spec::NsaCompressGrad>& c);

/// Elements of the largest tensor of a problem. In double: the product may exceed 64 bits.
double largest_tensor(const spec::NsaCompressGrad::Problem& problem);

/// Sets in `implied` the fields that the lengths of `given` imply: batch and seq. The replay line
/// leaves them out.
void imply_extents(const spec::NsaCompressGrad::Problem& given,
                   spec::NsaCompressGrad::Problem& implied);

/// Sets batch and seq from the lengths where there are any; equal lengths become seq alone. `given`
/// tells which fields the user wrote. Errors: std::invalid_argument where they contradict the
/// lengths.
void settle_extents(spec::NsaCompressGrad::Problem& problem,
                    const std::function<bool(std::string_view)>& given);

/// Refuses what no tensors can be made of. Errors: std::invalid_argument naming the field, its
/// value and what is accepted.
void require_possible(const Case<spec::NsaCompressGrad>& c);

}  // namespace assay::conformance
