#include <algorithm>
#include <iterator>

#include "checked.hpp"
#include "flash_attention_score/of_gradient.hpp"

namespace assay::mutants::attention_forward {
namespace {

using Call = spec::Call<Op>;

/// The correct forward kernel. Kernels with faults in their argument checks are derived from it.
struct Correct : OfGradient {
  template <class Plan>
  Correct(std::string name, const Plan&)
      : OfGradient(std::move(name),
                   mutants::mutants<spec::FlashAttentionScoreGrad>().front().make()) {}
};

/// Returns whether the heads axis (or heads x channels axis) of query and key has the same extent.
bool has_as_many_heads(const Call& c) {
  const std::string& layout = *c.attributes.input_layout;
  const std::size_t heads = layout.find('N');
  const std::size_t axis = heads == std::string::npos ? layout.find('H') : heads;
  return c.parameters.query.shape[axis] == c.parameters.key.shape[axis];
}

bool has_no_reserved_output(const Call& c) { return !c.parameters.softmax_out.present; }

}  // namespace

std::vector<MutantOf<Op>> argument_mutants() {
  constexpr int no_plan = 0;
  std::vector<MutantOf<Op>> all = {checking<Correct, Op>(
      "argument_checks", "a correct kernel that checks its arguments", no_plan, {})};
  all.front().healthy = true;
  std::ranges::move(
      careless<Correct, Op>(
          no_plan, {{"refuses_grouped_heads", "refuses legal calls with grouped heads",
                     "query and key must have the same number of heads", has_as_many_heads},
                    {"refuses_softmax_out", "refuses legal calls that pass the reserved softmaxOut",
                     "softmaxOut must be null", has_no_reserved_output}}),
      std::back_inserter(all));
  return all;
}

}  // namespace assay::mutants::attention_forward
