#include <algorithm>
#include <thread>

#include "assay/optimized/flash_attention_score_grad.hpp"
#include "assay/optimized/flash_attention_score_grad/estimate.hpp"
#include "assay/optimized/flash_attention_score_grad/tiling.hpp"
#include "flash_attention_score_grad/checks.hpp"
#include "flash_attention_score_grad/forward.hpp"
#include "flash_attention_score_grad/kernel.hpp"
#include "operands/fill.hpp"
#include "tile/dispatch.hpp"

namespace assay::optimized {
namespace {

using Op = spec::FlashAttentionScoreGrad;

/// Below this much work per thread, starting it costs more than it saves.
constexpr double flop_per_thread = 2e7;

bool has_empty_extent(const Op::Problem& p) {
  return std::min({p.batch, p.heads_q, p.heads_kv, p.seq_q, p.seq_kv, p.head_dim, p.head_dim_v}) <=
         0;
}

std::vector<spec::Metric> metrics_of(const Tiling& tiling, const Estimate& estimate) {
  const auto busy = [&](device::Pipe pipe) {
    return estimate.busy[static_cast<std::size_t>(pipe)].count;
  };
  const auto bytes = [](device::Bytes size) { return static_cast<double>(size.count); };
  using device::Pipe;
  return {{"cube_busy", busy(Pipe::cube), "cycle"},
          {"vector_busy", busy(Pipe::vector), "cycle"},
          {"cube_mte2_busy", busy(Pipe::cube_mte2), "cycle"},
          {"vector_mte2_busy", busy(Pipe::vector_mte2), "cycle"},
          {"mte1_busy", busy(Pipe::mte1), "cycle"},
          {"fixpipe_busy", busy(Pipe::fixpipe), "cycle"},
          {"mte3_busy", busy(Pipe::mte3), "cycle"},
          {"makespan", estimate.makespan.count, "cycle"},
          {"makespan_time", estimate.seconds * 1e6, "us"},
          {"gm_read", bytes(estimate.read), "B"},
          {"gm_written", bytes(estimate.written), "B"},
          {"l1_peak", bytes(tiling.l1), "B"},
          {"l0a_peak", bytes(tiling.l0a), "B"},
          {"l0b_peak", bytes(tiling.l0b), "B"},
          {"l0c_peak", bytes(tiling.l0c), "B"},
          {"ub_peak", bytes(tiling.ub), "B"},
          {"cube_utilisation", 100 * estimate.cube_utilisation, "%"}};
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
    // Measured 2^-23.6 over every float whose exponential is normal. Smaller ones underflow
    // gradually, as dS does, which the floor of the preset covers; masked elements are exactly
    // zero.
    profile.exp_error = 0x1p-23;
    return profile;
  }

  std::optional<std::string> unsupported(const spec::Call<Op>&) const override {
    return std::nullopt;
  }

  void check(const spec::Call<Op>& call) const override { refuse_unless_legal(call); }

  void run(const Op::Problem& problem, const Op::Inputs& inputs, Op::Outputs& outputs) override {
    if (has_empty_extent(problem)) {
      metrics_.clear();
      for (spec::Tensor* output : {&outputs.dq, &outputs.dk, &outputs.dv}) fill_with_zeros(*output);
      for (std::optional<spec::Tensor>* output : {&outputs.dq_rope, &outputs.dk_rope})
        if (*output) fill_with_zeros(**output);
      return;
    }
    const Tiling tiling = plan(problem, device_);
    compute_gradient(problem, inputs, outputs,
                     {.tiling = tiling,
                      .kernels = kernels_,
                      .workspace = workspace_,
                      .threads = threads_for(problem, tiling)});
    metrics_ = metrics_of(tiling, estimate(problem, tiling, device_));
  }

  bool has_forward() const override { return true; }

  void forward(const Op::Problem& problem, Op::Inputs& inputs) override {
    if (has_empty_extent(problem)) return fill_dead_rows(inputs);
    const Tiling tiling = plan(problem, device_);
    compute_forward(problem, inputs, tiling, kernels_, threads_for(problem, tiling));
  }

  std::vector<spec::Metric> metrics() const override { return metrics_; }

 private:
  std::int64_t threads_for(const Op::Problem& p, const Tiling& tiling) const {
    const std::int64_t asked = options_.threads > 0
                                   ? options_.threads
                                   : static_cast<std::int64_t>(std::thread::hardware_concurrency());
    const double flop = 10.0 * static_cast<double>(p.heads_q * tiling.blocks()) *
                        static_cast<double>(tiling.rows * tiling.columns * p.head_dim);
    const auto worth = static_cast<std::int64_t>(flop / flop_per_thread);
    const std::int64_t key_tiles = p.heads_kv * tiling.key_tiles();
    return std::max<std::int64_t>(1, std::min({asked, worth, key_tiles}));
  }

  device::Spec device_;
  Options options_;
  const tile::Kernels& kernels_;
  Workspace workspace_;
  std::vector<spec::Metric> metrics_;
};

}  // namespace

std::unique_ptr<spec::Implementation<Op>> flash_attention_score_grad(const device::Spec& device,
                                                                     Options options) {
  return std::make_unique<FlashAttentionScoreGrad>(device, options);
}

}  // namespace assay::optimized
