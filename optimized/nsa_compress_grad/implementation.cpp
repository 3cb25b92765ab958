#include "assay/optimized/nsa_compress_grad.hpp"
#include "assay/optimized/nsa_compress_grad/tiling.hpp"
#include "assay/optimized/nsa_compress_grad/traffic.hpp"
#include "assay/optimized/schedules/compress.hpp"
#include "host/threads.hpp"
#include "model/compression.hpp"
#include "model/regime.hpp"
#include "nsa_compress_grad/checks.hpp"
#include "nsa_compress_grad/kernel.hpp"
#include "operands/fill.hpp"
#include "tile/dispatch.hpp"

namespace assay::optimized {
namespace {

using Op = spec::NsaCompressGrad;
using compress::Tiling;

/// Cost of a multiply-add in memory-bound code, relative to a multiply-add in a matrix product.
constexpr double slower_than_products = 10;

std::vector<spec::Metric> metrics_of_run(const Op::Problem& problem, const Tiling& tiling) {
  auto metrics = metrics_of(compress::traffic(problem, tiling));
  metrics.push_back({"ub_peak", static_cast<double>(tiling.ub.count), "B"});
  return joined(std::move(metrics), compress::regimes_of(tiling, problem.head_dim));
}

class NsaCompressGrad final : public spec::Implementation<Op> {
 public:
  NsaCompressGrad(const device::Spec& device, const Options& options)
      : device_(device), options_(options), kernels_(tile::kernels_of_any_cpu(options)) {}

  std::string name() const override { return "optimized-" + device_.name; }

  /// Declares the roundings of this kernel. No intermediate value is stored in 16 bits. Sums may
  /// underflow gradually, because the judge treats results below Numerics::floor as 0.
  spec::Numerics numerics(const Op::Problem&) const override {
    return {.stage = spec::DType::fp32,
            .round_out = spec::Rounding::rne,
            .overflow = spec::Overflow::inf,
            .accumulator = spec::Accumulator::fp32,
            .order = spec::Order::fixed};
  }

  void check(const spec::Call<Op>& call) const override { compress::refuse_unless_legal(call); }

  void run(const Op::Problem& problem, const Op::Inputs& inputs, Op::Outputs& outputs) override {
    metrics_.clear();
    if (inputs.input.empty()) {
      fill_with_zeros(outputs.input_grad);
      fill_with_zeros(outputs.weight_grad);
      return;
    }
    const Tiling tiling = compress::plan(problem, device_);
    compress::compute_gradient(problem, inputs, outputs,
                               {.tiling = tiling,
                                .kernels = kernels_,
                                .workspace = workspace_,
                                .threads = threads_for(problem, tiling)});
    metrics_ = metrics_of_run(problem, tiling);
  }

  std::vector<spec::Metric> metrics() const override { return metrics_; }

 private:
  std::int64_t threads_for(const Op::Problem& p, const Tiling& tiling) const {
    const double flop = 4.0 * static_cast<double>(tiling.windows.window_ends().back()) *
                        static_cast<double>(p.compress_block_size * p.heads * p.head_dim);
    return optimized::threads_for(options_.threads, slower_than_products * flop,
                                  p.heads * tiling.partials());
  }

  device::Spec device_;
  Options options_;
  const tile::Kernels& kernels_;
  compress::Workspace workspace_;
  std::vector<spec::Metric> metrics_;
};

constexpr auto gradient = schedules::Direction::gradient;

/// Checks that the problem has tokens. Errors: NothingToCut.
void refuse_without_tokens(const Op::Problem& problem) {
  if (compress::Windows(problem).all_tokens() == 0) throw NothingToCut("the problem has no token");
}

/// Returns whether the problem has at least one window. Without windows, a schedule has no work.
bool has_windows(const Op::Problem& problem) {
  return compress::Windows(problem).window_ends().back() > 0;
}

}  // namespace

std::unique_ptr<spec::Implementation<Op>> nsa_compress_grad(const device::Spec& device,
                                                            Options options) {
  return std::make_unique<NsaCompressGrad>(device, options);
}

std::string Tiled<spec::NsaCompressGrad>::plan(const spec::NsaCompressGrad::Problem& problem,
                                               const device::Spec& device) {
  refuse_without_tokens(problem);
  const compress::Tiling tiling = compress::plan(problem, device);
  return to_text(tiling) + to_text(compress::traffic(problem, tiling)) +
         (has_windows(problem) ? schedules::report(compression_of(problem, gradient), device)
                               : "no schedule: the problem has no full window\n");
}

std::string Tiled<spec::NsaCompressGrad>::trace(const spec::NsaCompressGrad::Problem& problem,
                                                const device::Spec& device) {
  refuse_without_tokens(problem);
  if (!has_windows(problem)) throw NothingToCut("the problem has no full window");
  return schedules::trace(compression_of(problem, gradient), device);
}

}  // namespace assay::optimized
