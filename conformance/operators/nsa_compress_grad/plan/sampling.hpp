#pragma once

#include <cstdint>
#include <vector>

#include "assay/conformance/operators/nsa_compress_grad.hpp"
#include "assay/conformance/plan/sampling.hpp"

/// The parts of which a sweep of NsaCompressGrad is made.
namespace assay::conformance::compress {

using CompressCase = Case<spec::NsaCompressGrad>;

/// Sets lengths, batch and seq, in the form in which equal lengths are one number.
void set_lengths(spec::NsaCompressGrad::Problem& problem, std::vector<std::int64_t> lengths);

/// More tokens than 16 bits count, in sequences of any lengths.
std::vector<CompressCase> many_tokens_cases(std::uint64_t seed);

/// For every requirement with a reject side, each of its violations, one call that breaks it and,
/// besides what it implies, no other requirement. Errors: std::logic_error naming the requirement
/// that no call breaks so.
std::vector<CompressCase> violation_cases();
/// Of every variant of a requirement a case with numbers for each entry point whose page states it,
/// and for one other in turn.
std::vector<CompressCase> variant_cases();

}  // namespace assay::conformance::compress
