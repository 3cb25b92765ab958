#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "assay/conformance/operators/flash_attention_score_grad.hpp"
#include "assay/conformance/plan/sampling.hpp"

/// The parts of a sweep of FlashAttentionScoreGrad.
namespace assay::conformance::attention::flash {

using FlashCase = Case<spec::FlashAttentionScoreGrad>;

/// Returns the multiply-adds of one matrix product over all pairs of query and key, masked pairs
/// included.
double multiply_adds(const spec::FlashAttentionScoreGrad::Problem& problem);

/// Returns exact cases whose window or prefix ends at a multiple of a tile size, or next to one;
/// every tile size occurs.
std::vector<FlashCase> edge_cases(std::uint64_t seed);

/// Returns cases that exceed the work budget of randomly drawn cases: long grouped heads; more
/// tokens, dropout bits and scores than 16, 20 and 24 bits can count; value head sizes with a
/// partial block; long heads with all rows judged.
std::vector<FlashCase> large_cases(std::uint64_t seed);

/// Returns small exact and bound cases of packed sequences, for every entry point that accepts
/// them. The longest sequence has 1, 2 or 3 queries, or keys, or both; some sequences are empty.
std::vector<FlashCase> short_cases(std::uint64_t seed);

/// Returns small exact cases whose total number of heads is a number of cores (24 or 48), a
/// multiple of one, or one more or less.
std::vector<FlashCase> core_cases(std::uint64_t seed);

/// Returns small exact cases that combine layout, type, sparse mode, dropout, position bias,
/// grouped heads, incomplete tiles and a narrower value tensor. For any four of these, every
/// combination of values that a legal call can have occurs.
std::vector<FlashCase> interaction_cases(std::uint64_t seed);

/// Returns small bound cases with dropout, a bias or start indices, for each entry point, layout
/// and sparse mode for which the cases in `known` do not have them.
std::vector<FlashCase> field_cases(std::uint64_t seed, std::span<const FlashCase> known);

/// Returns relations between runs of 512 to 4096 tokens.
std::vector<FlashCase> large_relation_cases(std::uint64_t seed);

/// Returns illegal calls: for every requirement whose violation a kernel must reject, one call per
/// kind of violation and per entry point on which this violation is possible. The call violates
/// this requirement and those that it implies, but no other. Errors: std::logic_error with the name
/// of a requirement for which no such call was found.
std::vector<FlashCase> violation_cases();
/// Returns numerically judged cases: for every variant of a requirement, one case for each entry
/// point whose page states the requirement, and one for another entry point, in rotation.
std::vector<FlashCase> variant_cases();

}  // namespace assay::conformance::attention::flash
