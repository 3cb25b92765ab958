#include <algorithm>
#include <iterator>
#include <string_view>

#include "flash_attention_score/of_gradient.hpp"

namespace assay::mutants {
namespace attention_forward {
namespace {

MutantOf<Op> forward_of(const Mutant& mutant) {
  return {.name = mutant.name,
          .bug = mutant.bug,
          .healthy = mutant.healthy,
          .subject = mutant.subject == Subject::forward ? Subject::numbers : mutant.subject,
          .make = [name = mutant.name, make = mutant.make] {
            return std::make_unique<OfGradient>(name, make());
          }};
}

bool is_of_numbers(const Mutant& mutant) {
  return mutant.subject == Subject::numbers || mutant.subject == Subject::forward;
}

}  // namespace
}  // namespace attention_forward

template <>
std::vector<MutantOf<spec::FlashAttentionScore>> mutants() {
  using namespace attention_forward;
  std::vector<MutantOf<Op>> all;
  for (const Mutant& mutant : mutants<spec::FlashAttentionScoreGrad>())
    if (is_of_numbers(mutant)) all.push_back(forward_of(mutant));
  std::ranges::move(argument_mutants(), std::back_inserter(all));
  std::ranges::stable_partition(all, &MutantOf<Op>::healthy);
  return all;
}

template <>
std::vector<MutantOf<spec::FlashAttentionScore>> grown_mutants() {
  using namespace attention_forward;
  std::vector<MutantOf<Op>> all;
  for (const Mutant& mutant : grown_mutants<spec::FlashAttentionScoreGrad>())
    for (const std::string_view step : {"grown_product_", "grown_probability_", "grown_dropped_"})
      if (mutant.name.starts_with(step)) all.push_back(forward_of(mutant));
  return all;
}

}  // namespace assay::mutants
