#include <algorithm>
#include <thread>

#include "assay/optimized/flash_attention_score_grad.hpp"
#include "assay/optimized/flash_attention_score_grad/tiling.hpp"
#include "flash_attention_score_grad/kernel.hpp"
#include "tile/dispatch.hpp"

namespace assay::optimized {
namespace {

using Op = spec::FlashAttentionScoreGrad;

/// Below this much work per thread, starting it costs more than it saves.
constexpr double flop_per_thread = 2e7;

bool has_empty_extent(const Op::Problem& p) {
  return std::min({p.batch, p.heads_q, p.heads_kv, p.seq_q, p.seq_kv, p.head_dim, p.head_dim_v}) <= 0;
}

class FlashAttentionScoreGrad final : public spec::Implementation<Op> {
 public:
  FlashAttentionScoreGrad(const device::Spec& device, const Options& options)
      : device_(device), options_(options), kernels_(tile::kernels(options.instructions)) {}

  std::string name() const override { return "optimized-" + device_.name; }

  spec::NumericsProfile numerics(const Op::Problem& problem) const override {
    spec::NumericsProfile profile = spec::numerics_preset("ascend_a2", problem.dtype);
    profile.order = spec::Order::fixed;
    profile.overflow = spec::Overflow::inf;
    profile.exp_error = 0x1p-23;  // measured 2^-23.7 over all arguments with a normal result
    return profile;
  }

  void run(const Op::Problem& problem, const Op::Inputs& inputs, Op::Outputs& outputs) override {
    if (has_empty_extent(problem)) {
      for (spec::Tensor* output : {&outputs.dq, &outputs.dk, &outputs.dv}) fill_with_zeros(*output);
      return;
    }
    const Tiling tiling = plan(problem, device_);
    compute_gradient(problem, inputs, outputs,
                     {.tiling = tiling, .kernels = kernels_, .workspace = workspace_,
                      .threads = threads_for(problem, tiling)});
  }

 private:
  std::int64_t threads_for(const Op::Problem& p, const Tiling& tiling) const {
    const std::int64_t asked =
        options_.threads > 0 ? options_.threads
                             : static_cast<std::int64_t>(std::thread::hardware_concurrency());
    const double flop = 10.0 * static_cast<double>(p.batch * p.heads_q * tiling.blocks()) *
                        static_cast<double>(tiling.rows * tiling.columns * p.head_dim);
    const auto worth = static_cast<std::int64_t>(flop / flop_per_thread);
    const std::int64_t key_tiles = p.batch * p.heads_kv * tiling.key_tiles;
    return std::max<std::int64_t>(1, std::min({asked, worth, key_tiles}));
  }

  device::Spec device_;
  Options options_;
  const tile::Kernels& kernels_;
  Workspace workspace_;
};

}  // namespace

std::unique_ptr<spec::Implementation<Op>> flash_attention_score_grad(const device::Spec& device,
                                                                     Options options) {
  return std::make_unique<FlashAttentionScoreGrad>(device, options);
}

}  // namespace assay::optimized
