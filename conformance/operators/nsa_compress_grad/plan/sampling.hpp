#pragma once

#include <cstdint>
#include <vector>

#include "assay/conformance/operators/nsa_compress_grad.hpp"
#include "assay/conformance/plan/sampling.hpp"

/// The parts of a sweep of NsaCompressGrad.
namespace assay::conformance::compress {

using CompressCase = Case<spec::NsaCompressGrad>;

/// Sets lengths, batch and seq; equal lengths are stored as one number.
void set_lengths(spec::NsaCompressGrad::Problem& problem, std::vector<std::int64_t> lengths);

/// Cases with more tokens than 16 bits can count, in sequences of any lengths.
std::vector<CompressCase> many_tokens_cases(std::uint64_t seed);

/// Returns illegal calls: for every requirement whose violation a kernel must reject, one call per
/// kind of violation. The call violates this requirement and those that it implies, but no other.
/// Errors: std::logic_error with the name of a requirement for which no such call was found.
std::vector<CompressCase> violation_cases();
/// Returns numerically judged cases: for every variant of a requirement, one case for each entry
/// point whose page states the requirement, and one for another entry point, in rotation.
std::vector<CompressCase> variant_cases();

}  // namespace assay::conformance::compress
