#pragma once

#include "assay/spec/operators/nsa_compress_grad.hpp"
#include "operators/nsa_table.hpp"

/// What the table of NsaCompressGrad reads in a call and how it breaks one; for the table only.
namespace assay::spec::nsa {

using CompressOp = NsaCompressGrad;
using CompressCall = Call<CompressOp>;
using CompressProblem = CompressOp::Problem;
using CompressRow = Requirement<CompressOp>;

/// Whether all tensors are given with their ranks.
bool ranks_fit(const CompressCall& call);

/// Whether an array of sums is given and not empty.
bool has_sums(const CompressCall& call);

/// The sums of the lengths: of actSeqLenType 1, where the array holds the lengths themselves, added
/// up; -1 where a length is negative or too large.
Sums sums_of(const CompressCall& call);

/// Whether the sums start at 0 or above and never fall.
bool is_ascending(const Sums& sums);

/// What the shape of input and the sums say, or nothing where ranks or sums leave it open.
std::optional<Extents> input_as_given(const CompressCall& call);

/// Windows of all sequences, or nothing where the sums or the window leave it open.
std::optional<std::int64_t> windows_as_given(const CompressCall& call);

/// The problem that a call asks for whose ranks and sums fit, or nothing.
std::optional<CompressProblem> problem_of(const CompressCall& call);

/// Asks for the call's problem, contiguous, after `change`; every sequence is as long as the
/// longest.
void rewrite(CompressCall& call, void (*change)(CompressProblem& problem));

std::vector<CompressRow> compress_presence_requirements();
std::vector<CompressRow> compress_type_requirements();
std::vector<CompressRow> compress_shape_requirements();
std::vector<CompressRow> compress_window_requirements();

}  // namespace assay::spec::nsa
