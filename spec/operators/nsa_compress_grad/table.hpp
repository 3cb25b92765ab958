#pragma once

#include "assay/spec/operators/nsa_compress_grad.hpp"
#include "operators/nsa_table.hpp"

/// Functions with which the requirements of NsaCompressGrad read calls and make calls that break
/// them. Do not use them in an implementation.
namespace assay::spec::nsa {

using CompressOp = NsaCompressGrad;
using CompressCall = Call<CompressOp>;
using CompressProblem = CompressionProblem;
using CompressRow = Requirement<CompressOp>;

/// Returns whether all tensors are given with the correct ranks.
bool ranks_fit(const CompressCall& call);

/// Returns whether an array of sums is given and not empty.
bool has_sums(const CompressCall& call);

/// The sums of the lengths. For actSeqLenType 1, whose array contains lengths, the function adds
/// the lengths up. An entry is -1 if a length is negative or too large.
Sums sums_of(const CompressCall& call);

/// Returns whether the sums start at 0 or above and never decrease.
bool is_ascending(const Sums& sums);

/// The extents of input, from its shape and the sums; nothing if ranks or sums do not define them.
std::optional<Extents> input_as_given(const CompressCall& call);

/// The number of windows of all sequences; nothing if the sums or the window do not define it.
std::optional<std::int64_t> windows_as_given(const CompressCall& call);

/// The problem that a call with fitting ranks and sums describes; nothing for other calls.
std::optional<CompressProblem> problem_of(const CompressCall& call);

/// Applies `change` to the problem of the call, then writes the call again: contiguous, with every
/// sequence as long as the longest one.
void rewrite(CompressCall& call, void (*change)(CompressProblem& problem));

std::vector<CompressRow> compress_presence_requirements();
std::vector<CompressRow> compress_type_requirements();
std::vector<CompressRow> compress_shape_requirements();
std::vector<CompressRow> compress_window_requirements();

}  // namespace assay::spec::nsa
