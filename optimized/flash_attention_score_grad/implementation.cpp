#include <algorithm>

#include "assay/optimized/attention/tiling.hpp"
#include "assay/optimized/flash_attention_score_grad.hpp"
#include "assay/optimized/flash_attention_score_grad/traffic.hpp"
#include "assay/optimized/schedules/planner.hpp"
#include "attention/forward.hpp"
#include "attention/schedules.hpp"
#include "flash_attention_score_grad/checks/checks.hpp"
#include "flash_attention_score_grad/fastest_mode.hpp"
#include "flash_attention_score_grad/kernel.hpp"
#include "flash_attention_score_grad/pairs/products.hpp"
#include "host/threads.hpp"
#include "model/regime.hpp"
#include "operands/fill.hpp"
#include "operands/numerics.hpp"
#include "tile/dispatch.hpp"

namespace assay::optimized {
namespace {

using Op = spec::FlashAttentionScoreGrad;

bool has_empty_extent(const Op::Problem& p) {
  return std::min({p.batch, p.heads_q, p.heads_kv, p.seq_q, p.seq_kv, p.head_dim, p.head_dim_v}) <=
         0;
}

class FlashAttentionScoreGrad final : public spec::Implementation<Op> {
 public:
  FlashAttentionScoreGrad(const device::Spec& device, const Options& options)
      : device_(device), options_(options), kernels_(tile::kernels(options.instructions)) {
    const HostMode mode = options.host == HostMode::fastest ? fastest_mode() : options.host;
    if (mode != HostMode::any_cpu) pair_kernels_ = &tile::pair_kernels(mode);
  }

  std::string name() const override {
    const std::string name = "optimized-" + device_.name;
    if (options_.host == HostMode::any_cpu) return name;
    return name + "-" + std::string(spec::to_string(options_.host));
  }

  spec::Numerics numerics(const Op::Problem& problem) const override {
    spec::Numerics numerics = numerics_of_tiles(problem.dtype);
    if (pair_kernels_of(problem.dtype) != nullptr) numerics.floor = PairProducts::probability_floor;
    return numerics;
  }

  std::optional<std::string> unsupported(const spec::Call<Op>& call) const override {
    const spec::DType dtype = call.parameters.query.dtype;
    if (pair_kernels_ == nullptr || options_.host == HostMode::fastest ||
        pair_kernels_of(dtype) != nullptr)
      return std::nullopt;
    return "the host mode " + std::string(spec::to_string(options_.host)) + " supports bf16 only";
  }

  void check(const spec::Call<Op>& call) const override { refuse_unless_legal(call); }

  void run(const Op::Problem& problem, const Op::Inputs& inputs, Op::Outputs& outputs) override {
    if (has_empty_extent(problem)) {
      metrics_.clear();
      for (spec::Tensor* output : {&outputs.dq, &outputs.dk, &outputs.dv}) fill_with_zeros(*output);
      for (std::optional<spec::Tensor>* output :
           {&outputs.dq_rope, &outputs.dk_rope, &outputs.dsink})
        if (*output) fill_with_zeros(**output);
      return;
    }
    clear_padding(outputs.dq, query_extents(problem));
    clear_padding(outputs.dk, key_extents(problem));
    clear_padding(outputs.dv, value_extents(problem));
    if (outputs.dq_rope) clear_padding(*outputs.dq_rope, query_rope_extents(problem));
    if (outputs.dk_rope) clear_padding(*outputs.dk_rope, key_rope_extents(problem));
    const Tiling tiling = plan(problem, device_);
    compute_gradient(problem, inputs, outputs,
                     {.tiling = tiling,
                      .kernels = kernels_,
                      .workspace = workspace_,
                      .threads = threads(problem, tiling),
                      .pair_kernels = pair_kernels_of(problem.dtype)});
    metrics_ = joined(metrics_of(traffic(problem, tiling), tiling), regimes_of(tiling));
  }

  bool has_forward() const override { return true; }

  void forward(const Op::Problem& problem, Op::Inputs& inputs) override {
    const ForwardResults results = {inputs.softmax_max, inputs.softmax_sum, inputs.attention_in};
    if (has_empty_extent(problem)) return fill_dead_rows(problem, inputs, results);
    const Tiling tiling = plan(problem, device_);
    compute_forward(problem, inputs, results, tiling, kernels_, threads(problem, tiling));
  }

  std::vector<spec::Metric> metrics() const override { return metrics_; }

 private:
  const tile::PairKernels* pair_kernels_of(spec::DType dtype) const {
    return dtype == spec::DType::bf16 ? pair_kernels_ : nullptr;
  }
  std::int64_t threads(const Op::Problem& p, const Tiling& tiling) const {
    const double flop = 10.0 * static_cast<double>(p.heads_q * tiling.blocks()) *
                        static_cast<double>(tiling.rows * tiling.columns * p.head_dim);
    return threads_for(options_.threads, flop, p.heads_kv * tiling.key_tiles());
  }

  device::Spec device_;
  Options options_;
  const tile::Kernels& kernels_;
  const tile::PairKernels* pair_kernels_ = nullptr;
  Workspace workspace_;
  std::vector<spec::Metric> metrics_;
};

}  // namespace

std::unique_ptr<spec::Implementation<Op>> flash_attention_score_grad(const device::Spec& device,
                                                                     Options options) {
  return std::make_unique<FlashAttentionScoreGrad>(device, options);
}

std::string Tiled<spec::FlashAttentionScoreGrad>::plan(
    const spec::FlashAttentionScoreGrad::Problem& problem, const device::Spec& device) {
  if (spec::score_count(problem) == 0)
    throw NothingToCut("the problem has no pair of query and key");
  const Tiling tiling = optimized::plan(problem, device);
  const auto attention = attention_of(problem);
  const auto* modelled = std::get_if<schedules::Attention>(&attention);
  return to_text(tiling) + to_text(traffic(problem, tiling)) +
         (modelled != nullptr ? schedules::report(*modelled, device)
                              : "no schedule: " + std::get<std::string>(attention) + "\n");
}

std::string Tiled<spec::FlashAttentionScoreGrad>::trace(
    const spec::FlashAttentionScoreGrad::Problem& problem, const device::Spec& device) {
  if (spec::score_count(problem) == 0)
    throw NothingToCut("the problem has no pair of query and key");
  const auto attention = attention_of(problem);
  if (const auto* reason = std::get_if<std::string>(&attention)) throw NothingToCut(*reason);
  return schedules::trace(std::get<schedules::Attention>(attention), device);
}

}  // namespace assay::optimized
