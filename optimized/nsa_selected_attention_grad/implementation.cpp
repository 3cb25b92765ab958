#include "assay/optimized/nsa_selected_attention_grad.hpp"
#include "assay/optimized/nsa_selected_attention_grad/tiling.hpp"
#include "host/threads.hpp"
#include "model/regime.hpp"
#include "model/selection.hpp"
#include "nsa_selected_attention_grad/checks.hpp"
#include "nsa_selected_attention_grad/kernel.hpp"
#include "operands/numerics.hpp"
#include "selection/forward.hpp"
#include "tile/dispatch.hpp"

namespace assay::optimized {
namespace {

using Op = spec::NsaSelectedAttentionGrad;

class NsaSelectedAttentionGrad final : public spec::Implementation<Op> {
 public:
  NsaSelectedAttentionGrad(const device::Spec& device, const Options& options)
      : device_(device), options_(options), kernels_(tile::kernels_of_any_cpu(options)) {}

  std::string name() const override { return "optimized-" + device_.name; }

  spec::Numerics numerics(const Op::Problem& problem) const override {
    return numerics_of_tiles(problem.dtype);
  }

  void check(const spec::Call<Op>& call) const override { selected::refuse_unless_legal(call); }

  void run(const Op::Problem& problem, const Op::Inputs& inputs, Op::Outputs& outputs) override {
    const selected::Tiling tiling = selected::plan(problem, device_);
    const std::int64_t blocks = key_extents(problem).rows() / problem.selected_block_size;
    const selected::Demand demand =
        selected::compute_gradient(problem, inputs, outputs,
                                   {.tiling = tiling,
                                    .kernels = kernels_,
                                    .workspace = workspace_,
                                    .threads = threads(problem, blocks)});
    metrics_ = joined(metrics_of(selected::traffic(problem, tiling, demand), tiling),
                      selected::regimes_of(tiling, demand));
  }

  bool has_forward() const override { return true; }

  void forward(const Op::Problem& problem, Op::Inputs& inputs) override {
    selected::compute_forward(problem,
                              {.query = inputs.query,
                               .key = inputs.key,
                               .value = inputs.value,
                               .topk_indices = inputs.topk_indices,
                               .softmax_max = inputs.softmax_max,
                               .softmax_sum = inputs.softmax_sum,
                               .attention_out = inputs.attention_out},
                              "NSAS-C38", kernels_, threads(problem, topk_extents(problem).rows()));
  }

  std::vector<spec::Metric> metrics() const override { return metrics_; }

 private:
  std::int64_t threads(const Op::Problem& p, std::int64_t units) const {
    const std::int64_t scores =
        query_extents(p).rows() * p.selected_block_count * p.selected_block_size;
    const double flop = 10.0 * static_cast<double>(scores) * static_cast<double>(p.head_dim);
    return threads_for(options_.threads, flop, units);
  }

  device::Spec device_;
  Options options_;
  const tile::Kernels& kernels_;
  selected::Workspace workspace_;
  std::vector<spec::Metric> metrics_;
};

/// Returns nothing if the vendor's schedule "basic" supports the problem, else a text that says
/// which problems it supports.
std::string not_taken_by_basic(const Op::Problem& p) {
  const bool taken = p.selected_block_count == 16 && p.selected_block_size == 64 &&
                     p.head_dim <= 192 && p.head_dim_v <= 128 && p.group() <= 16;
  return taken ? ""
               : "16 blocks of 64 keys, D up to 192, Dv up to 128, and up to 16 query heads per "
                 "key head";
}

schedules::Selection modelled(const Op::Problem& p) {
  schedules::Selection selection = selection_of(p, schedules::Direction::gradient);
  selection.not_taken = not_taken_by_basic(p);
  return selection;
}

}  // namespace

std::unique_ptr<spec::Implementation<Op>> nsa_selected_attention_grad(const device::Spec& device,
                                                                      Options options) {
  return std::make_unique<NsaSelectedAttentionGrad>(device, options);
}

std::string Tiled<spec::NsaSelectedAttentionGrad>::plan(
    const spec::NsaSelectedAttentionGrad::Problem& problem, const device::Spec& device) {
  const selected::Tiling tiling = selected::plan(problem, device);
  return to_text(tiling) +
         to_text(selected::traffic(problem, tiling, selected::even_demand(problem))) +
         schedules::report(modelled(problem), device);
}

std::string Tiled<spec::NsaSelectedAttentionGrad>::trace(
    const spec::NsaSelectedAttentionGrad::Problem& problem, const device::Spec& device) {
  return schedules::trace(modelled(problem), device);
}

}  // namespace assay::optimized
