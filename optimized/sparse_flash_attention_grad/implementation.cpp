#include <algorithm>

#include "assay/optimized/sparse_flash_attention_grad.hpp"
#include "assay/optimized/sparse_flash_attention_grad/tiling.hpp"
#include "host/threads.hpp"
#include "model/regime.hpp"
#include "operands/numerics.hpp"
#include "sparse_flash_attention_grad/checks.hpp"
#include "sparse_flash_attention_grad/kernel.hpp"
#include "sparse_flash_attention_grad/schedule.hpp"
#include "tile/dispatch.hpp"

namespace assay::optimized {
namespace {

using Op = spec::SparseFlashAttentionGrad;

class SparseFlashAttentionGrad final : public spec::Implementation<Op> {
 public:
  SparseFlashAttentionGrad(const device::Spec& device, const Options& options)
      : device_(device), options_(options), kernels_(tile::kernels_of_any_cpu(options)) {}

  std::string name() const override { return "optimized-" + device_.name; }

  spec::Numerics numerics(const Op::Problem& problem) const override {
    return numerics_of_tiles(problem.dtype);
  }

  void check(const spec::Call<Op>& call) const override { sparse_flash::refuse_unless_legal(call); }

  void run(const Op::Problem& problem, const Op::Inputs& inputs, Op::Outputs& outputs) override {
    const sparse_flash::Tiling tiling = sparse_flash::plan(problem, device_);
    const sparse_flash::Demand demand =
        sparse_flash::compute_gradient(problem, inputs, outputs,
                                       {.tiling = tiling,
                                        .kernels = kernels_,
                                        .workspace = workspace_,
                                        .threads = threads(problem)});
    metrics_ = joined(metrics_of(sparse_flash::traffic(problem, tiling, demand), tiling),
                      sparse_flash::regimes_of(tiling, demand));
  }

  std::vector<spec::Metric> metrics() const override { return metrics_; }

 private:
  std::int64_t threads(const Op::Problem& p) const {
    const std::int64_t tokens = sparse_indices_extents(p).rows();
    const std::int64_t keys = std::min(p.seq_kv, p.sparse_block_count * p.sparse_block_size);
    const double flop = 10.0 * static_cast<double>(query_extents(p).rows() * keys) *
                        static_cast<double>(Op::Problem::head_dim);
    return threads_for(options_.threads, flop, tokens);
  }

  device::Spec device_;
  Options options_;
  const tile::Kernels& kernels_;
  sparse_flash::Workspace workspace_;
  std::vector<spec::Metric> metrics_;
};

}  // namespace

std::unique_ptr<spec::Implementation<Op>> sparse_flash_attention_grad(const device::Spec& device,
                                                                      Options options) {
  return std::make_unique<SparseFlashAttentionGrad>(device, options);
}

std::string Tiled<Op>::plan(const Op::Problem& problem, const device::Spec& device) {
  const sparse_flash::Tiling tiling = sparse_flash::plan(problem, device);
  return to_text(tiling) +
         to_text(
             sparse_flash::traffic(problem, tiling, sparse_flash::usual_demand(problem, tiling))) +
         schedules::report(sparse_flash::gathering_of(problem), device);
}

std::string Tiled<Op>::trace(const Op::Problem& problem, const device::Spec& device) {
  return schedules::trace(sparse_flash::gathering_of(problem), device);
}

}  // namespace assay::optimized
