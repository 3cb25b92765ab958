#pragma once

#include <cstdint>
#include <span>
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

/// A pairwise cover of the factors.
std::vector<CompressCase> cover_cases(std::uint64_t seed);

/// Small bound cases for the pairs of values on the axes of coverage that no case of `plan` with
/// numbers holds.
std::vector<CompressCase> completing_cases(std::uint64_t seed, std::span<const CompressCase> plan);

/// `count` cases drawn from the categories of the cover.
std::vector<CompressCase> random_cases(std::uint64_t seed, std::int64_t count);

/// For every row with a reject side, each of its violations, one call that breaks it and, besides
/// what it implies, no other row. Errors: std::logic_error naming the row that no call breaks so.
std::vector<CompressCase> violation_cases();
/// Of every variant of a row a case with numbers for each entry point whose page states it, and for
/// one other in turn.
std::vector<CompressCase> variant_cases();

}  // namespace assay::conformance::compress
