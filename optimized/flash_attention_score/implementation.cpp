#include <algorithm>
#include <vector>

#include "assay/optimized/attention/tiling.hpp"
#include "assay/optimized/flash_attention_score.hpp"
#include "assay/optimized/schedules/planner.hpp"
#include "attention/forward.hpp"
#include "attention/schedules.hpp"
#include "attention/statistics.hpp"
#include "flash_attention_score/checks.hpp"
#include "host/threads.hpp"
#include "operands/fill.hpp"
#include "operands/numerics.hpp"
#include "tile/dispatch.hpp"

namespace assay::optimized {
namespace {

using Op = spec::FlashAttentionScore;

bool has_empty_extent(const Op::Problem& p) {
  return std::min({p.batch, p.heads_q, p.heads_kv, p.seq_q, p.seq_kv, p.head_dim, p.head_dim_v}) <=
         0;
}

/// Sets the statistics of rows without keys in packed sequences to 0, as the vendor's kernel does.
void clear_keyless_rows(const Op::Problem& p, Op::Outputs& outputs) {
  const spec::Extents queries = query_extents(p);
  const std::vector<float> zeros(static_cast<std::size_t>(p.seq_q), 0.0F);
  for (spec::Tensor* tensor : {&outputs.softmax_max, &outputs.softmax_sum}) {
    const Statistics statistics(p, *tensor, queries);
    for (std::int64_t b = 0; b < p.batch; ++b)
      for (std::int64_t n = 0; n < p.heads_q && p.length_kv(b) == 0; ++n)
        statistics.write({.b = b, .n = n, .first = 0, .count = p.length_q(b)}, zeros.data(),
                         *tensor);
  }
}

class FlashAttentionScore final : public spec::Implementation<Op> {
 public:
  FlashAttentionScore(const device::Spec& device, const Options& options)
      : device_(device), threads_(options.threads), kernels_(tile::kernels_of_any_cpu(options)) {}

  std::string name() const override { return "optimized-" + device_.name; }

  spec::Numerics numerics(const Op::Problem& problem) const override {
    return numerics_of_tiles(problem.dtype);
  }

  void check(const spec::Call<Op>& call) const override {
    attention_forward::refuse_unless_legal(call);
  }

  void run(const Op::Problem& problem, const Op::Inputs& inputs, Op::Outputs& outputs) override {
    if (has_empty_extent(problem)) {
      for (spec::Tensor* output :
           {&outputs.softmax_max, &outputs.softmax_sum, &outputs.attention_out})
        fill_with_zeros(*output);
      return;
    }
    const Tiling tiling = plan(problem, device_);
    compute_forward(problem, inputs,
                    {outputs.softmax_max, outputs.softmax_sum, outputs.attention_out}, tiling,
                    kernels_, threads(problem, tiling));
    clear_keyless_rows(problem, outputs);
  }

 private:
  std::int64_t threads(const Op::Problem& p, const Tiling& tiling) const {
    const double flop = 4.0 * static_cast<double>(p.heads_q * tiling.blocks()) *
                        static_cast<double>(tiling.rows * tiling.columns * p.head_dim);
    return threads_for(threads_, flop, p.heads_q * tiling.batch);
  }

  device::Spec device_;
  int threads_;
  const tile::Kernels& kernels_;
};

/// Returns the problem in the terms of the model. Errors: NothingToCut.
schedules::Attention modelled(const Op::Problem& problem) {
  if (spec::score_count(problem) == 0)
    throw NothingToCut("the problem has no pair of query and key");
  const auto attention = attention_of(problem, schedules::Direction::forward);
  if (const auto* reason = std::get_if<std::string>(&attention)) throw NothingToCut(*reason);
  return std::get<schedules::Attention>(attention);
}

}  // namespace

std::unique_ptr<spec::Implementation<Op>> flash_attention_score(const device::Spec& device,
                                                                Options options) {
  return std::make_unique<FlashAttentionScore>(device, options);
}

std::string Tiled<Op>::plan(const Op::Problem& problem, const device::Spec& device) {
  return schedules::report(modelled(problem), device);
}

std::string Tiled<Op>::trace(const Op::Problem& problem, const device::Spec& device) {
  return schedules::trace(modelled(problem), device);
}

}  // namespace assay::optimized
