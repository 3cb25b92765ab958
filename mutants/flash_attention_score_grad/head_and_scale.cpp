#include <algorithm>
#include <cmath>

#include "flash_attention_score_grad/families.hpp"

namespace assay::mutants {
namespace {

struct ScaleMissingOnDk : Kernel {
  float gradient_scale(const AttentionWork& w, Gradient which) const override {
    return which == Gradient::dk ? 1.0f : Kernel::gradient_scale(w, which);
  }
};

struct ScaleMissingOnDq : Kernel {
  float gradient_scale(const AttentionWork& w, Gradient which) const override {
    return which == Gradient::dq ? 1.0f : Kernel::gradient_scale(w, which);
  }
};

struct ScaleTwiceOnDq : Kernel {
  float gradient_scale(const AttentionWork& w, Gradient which) const override {
    return Kernel::gradient_scale(w, which) * (which == Gradient::dq ? scale(w) : 1.0f);
  }
};

struct ScaleFromHeadDim : Kernel {
  float scale(const AttentionWork& w) const override {
    return 1.0f / std::sqrt(static_cast<float>(w.problem.head_dim));
  }
};

struct ScaleWithoutSign : Kernel {
  float scale(const AttentionWork& w) const override { return std::abs(Kernel::scale(w)); }
};

struct ScaleOnePercentOff : Kernel {
  float scale(const AttentionWork& w) const override { return 1.01f * Kernel::scale(w); }
};

struct KvHeadModulo : Kernel {
  std::int64_t kv_head(const AttentionWork& w, std::int64_t n) const override {
    return n % w.problem.heads_kv;
  }
};

struct LastHeadOfGroupOnly : Kernel {
  void begin_head(AttentionWork& w, std::int64_t b, std::int64_t n) const override {
    for (std::int64_t j = 0; j < w.problem.length_kv(b); ++j) {
      std::ranges::fill(w.dk.row(b, kv_head(w, n), j), 0.0f);
      std::ranges::fill(w.dv.row(b, kv_head(w, n), j), 0.0f);
    }
  }
};

struct LastHeadSkipped : Kernel {
  std::int64_t heads(const AttentionWork& w) const override { return w.problem.heads_q - 1; }
};

struct LastBatchSkipped : Kernel {
  std::int64_t batches(const AttentionWork& w) const override { return w.problem.batch - 1; }
};

}  // namespace

std::vector<Mutant> head_and_scale_mutants() {
  return {
      injected<ScaleMissingOnDk>("scale_missing_on_dk", "dk is not multiplied by scale_value",
                                 ascend_like),
      injected<ScaleMissingOnDq>("scale_missing_on_dq", "dq is not multiplied by scale_value"),
      injected<ScaleTwiceOnDq>("scale_twice_on_dq", "dq is multiplied by scale_value twice"),
      injected<ScaleFromHeadDim>("scale_from_head_dim", "uses 1/sqrt(head_dim) for scale_value",
                                 ascend_like),
      injected<ScaleWithoutSign>("scale_without_sign", "uses the absolute value of scale_value"),
      injected<ScaleOnePercentOff>("scale_one_percent_off", "scale_value is 1 % too large",
                                   ascend_like),
      injected<KvHeadModulo>("kv_head_modulo", "query head n reads key head n mod heads_kv"),
      injected<LastHeadOfGroupOnly>(
          "last_head_of_group_only",
          "dk and dv contain only the contribution of the last query head of a group"),
      injected<LastHeadSkipped>("last_head_skipped", "the last query head contributes nothing"),
      injected<LastBatchSkipped>("last_batch_skipped", "the last batch contributes nothing",
                                 ascend_like),
  };
}

}  // namespace assay::mutants
