#pragma once

#include <cstdint>
#include <vector>

#include "assay/conformance/operators/nsa_selected_attention_grad.hpp"

/// The parts of a sweep of NsaSelectedAttentionGrad.
namespace assay::conformance::selected {

using Op = spec::NsaSelectedAttentionGrad;
using SelectedCase = Case<Op>;

/// Returns the number of keys in the list of a query.
inline std::int64_t listed_keys(const Op::Problem& p) {
  return p.selected_block_size * p.selected_block_count;
}

/// Returns the number of pairs of a query row and an entry of its list, masked ones included.
double entries(const Op::Problem& problem);

/// Returns cases with more tokens than 16 bits can count, in many sequences. A judged row in each
/// sequence gives many judged rows.
std::vector<SelectedCase> many_tokens_cases(std::uint64_t seed);

/// Returns small cases that step through sizes: three consecutive seeds cover all group sizes and
/// list lengths in both types. Other cases have token counts next to numbers of cores, or block
/// indices above 8 bits.
std::vector<SelectedCase> counted_cases(std::uint64_t seed);

/// Returns illegal calls: for every requirement whose violation a kernel must reject, one call per
/// kind of violation. The call violates this requirement and those that it implies, but no other.
/// Errors: std::logic_error with the name of a requirement for which no such call was found.
std::vector<SelectedCase> violation_cases();
/// Returns numerically judged cases: for every variant of a requirement, one case for each entry
/// point whose page states the requirement, and one for another entry point, in rotation.
std::vector<SelectedCase> variant_cases();

}  // namespace assay::conformance::selected
