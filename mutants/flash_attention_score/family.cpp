#include <algorithm>
#include <iterator>
#include <string_view>

#include "flash_attention_score/of_gradient.hpp"

namespace assay::mutants {
namespace attention_forward {
namespace {

/// Names of mutants (kernels with a fault) of the gradient that are not faulty in the forward. They
/// change a step that the forward also uses, but its outputs are still correct.
constexpr std::string_view not_in_forward[] = {
    // These mutants do not affect the forward, because the forward does not read dy, statistics, or
    // an attribute for the order of statistics.
    "dy_offset_ignored", "orders_of_pages", "own_sum_misses_last_key", "same_as_input_ignored",
    // This mutant does not affect the forward, because the plain forward does not compute fully
    // masked rows.
    "dead_rows_attend",
    // These mutants do not affect the forward, because its test cases do not use these biases or
    // masks.
    "bias_of_head_in_5_bits", "compressed_pse_from_first", "compressed_pse_row_off",
    "compressed_row_off", "full_pse_as_packed", "power_of_exp_in_16_bits",
    "shared_pse_rows_of_own_length", "single_row_by_token", "start_in_every_sequence",
    // These mutants do not affect the forward, because its exact cases contain no values halfway
    // between two representable numbers.
    "ties_away_in_cast", "ties_away_in_staging", "ties_even_in_cast"};

MutantOf<Op> forward_of(const Mutant& mutant) {
  return {.name = mutant.name,
          .bug = mutant.bug,
          .healthy = mutant.healthy,
          .subject = mutant.subject == Subject::forward ? Subject::numbers : mutant.subject,
          .make = [name = mutant.name, make = mutant.make] {
            return std::make_unique<OfGradient>(name, make());
          }};
}

bool is_of_forward(const Mutant& mutant) {
  if (std::ranges::find(not_in_forward, mutant.name) != std::end(not_in_forward)) return false;
  return mutant.subject == Subject::forward ||
         (mutant.subject == Subject::numbers && (mutant.healthy || mutant.changes_forward));
}

}  // namespace
}  // namespace attention_forward

template <>
std::vector<MutantOf<spec::FlashAttentionScore>> mutants() {
  using namespace attention_forward;
  std::vector<MutantOf<Op>> all;
  for (const Mutant& mutant : mutants<spec::FlashAttentionScoreGrad>())
    if (is_of_forward(mutant)) all.push_back(forward_of(mutant));
  for (const Mutant& mutant : sinks_of_forward()) all.push_back(forward_of(mutant));
  std::ranges::move(argument_mutants(), std::back_inserter(all));
  std::ranges::stable_partition(all, &MutantOf<Op>::healthy);
  return all;
}

template <>
std::vector<MutantOf<spec::FlashAttentionScore>> generated_mutants() {
  std::vector<MutantOf<spec::FlashAttentionScore>> all;
  for (const Mutant& mutant : generated_forward_mutants())
    all.push_back(attention_forward::forward_of(mutant));
  return all;
}

}  // namespace assay::mutants
