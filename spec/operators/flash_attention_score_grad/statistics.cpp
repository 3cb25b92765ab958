#include <algorithm>

#include "assay/spec/numerics.hpp"
#include "assay/spec/operators/flash_attention_score_grad.hpp"

namespace assay::spec {

bool is_order_of_statistics_seen(const FlashAttentionScoreGrad::Problem& p) {
  if (!is_packed(p.input_layout) || p.heads_q == 1) return false;
  if (p.lengths_q.empty()) return p.batch > 0 && p.seq_q > 1;
  return std::ranges::any_of(p.lengths_q, [](std::int64_t length) { return length > 1; });
}

std::optional<StatisticsOrder> declared_order(const Numerics& numerics, FlashEntryPoint entry_point,
                                              SoftmaxInLayout layout) {
  const DeclaredOrder declared = !has_softmax_in_layout(entry_point) ? numerics.statistics_order
                                 : layout == SoftmaxInLayout::empty
                                     ? numerics.statistics_order_empty
                                     : numerics.statistics_order_same_as_input;
  switch (declared) {
    case DeclaredOrder::heads_first:
      return StatisticsOrder::heads_first;
    case DeclaredOrder::tokens_first:
      return StatisticsOrder::tokens_first;
    case DeclaredOrder::undeclared:
      break;
  }
  return std::nullopt;
}

}  // namespace assay::spec
