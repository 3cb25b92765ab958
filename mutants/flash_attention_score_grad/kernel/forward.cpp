#include <limits>

#include "flash_attention_score_grad/kernel/kernel.hpp"

namespace assay::mutants {

float Kernel::output_weight(const AttentionWork& w, Query q, std::int64_t j,
                            const RowState& row) const {
  return stage(w, dropped(w, q, j, probability(w, q, j, row)));
}

void Kernel::forward(const Op::Problem& problem, Op::Inputs& inputs) {
  const AttentionWork w = load(problem, inputs);
  const spec::Extents e = dy_extents(problem);
  const spec::HeadIndex output(inputs.attention_in, problem.input_layout, e);
  const std::vector<std::int64_t> maxima = viewed_elements(inputs.softmax_max),
                                  sums = viewed_elements(inputs.softmax_sum);
  visit_rows(e, [&](std::int64_t b, std::int64_t n, std::int64_t i) {
    const Query q = {b, n, i};
    const RowState row = forward_statistics(w, q);
    std::vector<float> row_output(static_cast<std::size_t>(e.dim), 0.0f);
    if (row.softmax_max != -std::numeric_limits<float>::max())
      for (std::int64_t j = 0; j < keys(w, b); ++j) {
        const float weight = output_weight(w, q, j, row);
        const std::span<const float> value = value_row(w, q, j);
        for (std::size_t d = 0; d < row_output.size(); ++d) row_output[d] += weight * value[d];
      }
    for (std::int64_t d = 0; d < e.dim; ++d)
      inputs.attention_in.store(output(b, n, i, d),
                                cast(w, row_output[static_cast<std::size_t>(d)]));
    const auto first = static_cast<std::size_t>(statistics_element(problem, e, {b, n, i}));
    for (std::int64_t r = 0; r < written_replicas(); ++r) {
      inputs.softmax_max.store(maxima[first + static_cast<std::size_t>(r)], row.softmax_max);
      inputs.softmax_sum.store(sums[first + static_cast<std::size_t>(r)], row.softmax_sum);
    }
  });
}

}  // namespace assay::mutants
