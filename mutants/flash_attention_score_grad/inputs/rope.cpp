#include <algorithm>

#include "flash_attention_score_grad/families.hpp"

namespace assay::mutants {
namespace {

struct RopeMissingInScore : Kernel {
  float rope_product(const AttentionWork&, Query, std::int64_t, float sum) const override {
    return sum;
  }
};

struct RopeNotScaled : Kernel {
  float gradient_scale(const AttentionWork& w, Gradient which) const override {
    const bool is_rope = which == Gradient::dq_rope || which == Gradient::dk_rope;
    return is_rope ? 1.0f : Kernel::gradient_scale(w, which);
  }
};

/// Fault: in the gradient of the rope part, the kernel accumulates the first channels of the main
/// tensor instead of the rope channels.
template <Gradient wrong, Gradient source>
struct RopeCollectsMain : Kernel {
  std::span<const float> collected(const AttentionWork& w, Gradient which, Query q,
                                   std::int64_t j) const override {
    if (which != wrong) return Kernel::collected(w, which, q, j);
    return Kernel::collected(w, source, q, j)
        .first(static_cast<std::size_t>(w.problem.head_dim_rope));
  }
};

struct DkRopeOfLastHead : Kernel {
  void begin_head(AttentionWork& w, std::int64_t b, std::int64_t n) const override {
    for (std::int64_t j = 0; j < w.problem.length_kv(b); ++j)
      std::ranges::fill(w.dk_rope.row(b, kv_head(w, n), j), 0.0f);
  }
};

}  // namespace

std::vector<Mutant> rope_mutants() {
  return {
      injected<RopeMissingInScore>("rope_missing_in_score", "scores omit the rope part",
                                   ascend_like),
      injected<RopeNotScaled>("rope_not_scaled",
                              "dq_rope and dk_rope are not multiplied by scale_value"),
      injected<RopeCollectsMain<Gradient::dk_rope, Gradient::dk>>(
          "dk_rope_from_query", "dk_rope accumulates query instead of query_rope", ascend_like),
      injected<RopeCollectsMain<Gradient::dq_rope, Gradient::dq>>(
          "dq_rope_from_key", "dq_rope accumulates key instead of key_rope"),
      injected<DkRopeOfLastHead>(
          "dk_rope_of_last_head",
          "dk_rope contains only the contribution of the last query head of a group"),
  };
}

}  // namespace assay::mutants
