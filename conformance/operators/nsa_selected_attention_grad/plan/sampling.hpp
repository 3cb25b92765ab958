#pragma once

#include <cstdint>
#include <vector>

#include "assay/conformance/operators/nsa_selected_attention_grad.hpp"

/// The parts of which a sweep of NsaSelectedAttentionGrad is made.
namespace assay::conformance::selected {

using Op = spec::NsaSelectedAttentionGrad;
using SelectedCase = Case<Op>;

/// Keys that a query lists.
inline std::int64_t listed_keys(const Op::Problem& p) {
  return p.selected_block_size * p.selected_block_count;
}

/// Pairs of a query row and an entry of its list, unseen ones included.
double entries(const Op::Problem& problem);

/// More tokens than 16 bits count, in so many sequences that a row of each is many rows.
std::vector<SelectedCase> many_tokens_cases(std::uint64_t seed);

/// Small cases in which numbers take turns: groups and lengths of lists, all of which three seeds
/// in a row have in both types; tokens beside numbers of cores; indices beyond 8 bits.
std::vector<SelectedCase> counted_cases(std::uint64_t seed);

/// For every requirement with a reject side, and each of its violations, one call that breaks it
/// and, besides what it implies, no other requirement. Errors: std::logic_error naming the
/// requirement that no call breaks so.
std::vector<SelectedCase> violation_cases();
/// Of every variant of a requirement a case with numbers for each entry point whose page states it,
/// and for one other in turn.
std::vector<SelectedCase> variant_cases();

}  // namespace assay::conformance::selected
