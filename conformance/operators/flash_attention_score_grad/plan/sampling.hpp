#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "assay/conformance/operators/flash_attention_score_grad.hpp"
#include "assay/conformance/plan/sampling.hpp"

/// The parts of which a sweep of FlashAttentionScoreGrad is made.
namespace assay::conformance::attention::flash {

using FlashCase = Case<spec::FlashAttentionScoreGrad>;

/// Multiply-adds of one product over all pairs, masked ones included.
double multiply_adds(const spec::FlashAttentionScoreGrad::Problem& problem);

/// Exact cases whose window or prefix ends at, or beside, multiples of every tile size.
std::vector<FlashCase> edge_cases(std::uint64_t seed);

/// Cases beyond what a budget leaves to the drawn ones: long grouped heads, more tokens, bits of
/// dropout and scores than 16, 20 and 24 bits count, values of no whole blocks, long heads all rows
/// of which are judged.
std::vector<FlashCase> large_cases(std::uint64_t seed);

/// Packed sequences of which the longest has 1, 2 or 3 tokens, on either side or both, some empty
/// anywhere: small exact and bound cases of every entry point of packed sequences.
std::vector<FlashCase> short_cases(std::uint64_t seed);

/// Small exact cases whose heads of all sequences are as many as 24 or 48 cores, some rounds of
/// them, or one less or more.
std::vector<FlashCase> core_cases(std::uint64_t seed);

/// Small exact cases in which layout, type, sparse mode, dropout, position bias, grouped heads,
/// incomplete tiles and a narrower value meet: every four values that a legal call has together.
std::vector<FlashCase> interaction_cases(std::uint64_t seed);

/// Small bound cases with dropout, a bias and start indices for the entry points, layouts and
/// sparse modes in which no `known` case has them.
std::vector<FlashCase> field_cases(std::uint64_t seed, std::span<const FlashCase> known);

/// Relations between runs of 512 to 4096 tokens.
std::vector<FlashCase> large_relation_cases(std::uint64_t seed);

/// For every requirement with a reject side, each of its violations and each entry point that can
/// break it so one call that breaks it and, besides what it implies, no other requirement. Errors:
/// std::logic_error naming the requirement that no call breaks so.
std::vector<FlashCase> violation_cases();
/// Of every variant of a requirement a case with numbers for each entry point whose page states it,
/// and for one other in turn.
std::vector<FlashCase> variant_cases();

}  // namespace assay::conformance::attention::flash
