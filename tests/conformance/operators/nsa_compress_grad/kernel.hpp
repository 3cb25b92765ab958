#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "assay/conformance/inputs/random.hpp"
#include "assay/spec/implementation.hpp"
#include "assay/spec/operators/nsa_compress_grad.hpp"

namespace assay::conformance::testing {

using CompressOp = spec::NsaCompressGrad;

/// The order in which the small test kernel adds products: ascending in one sum, random in one sum,
/// in a pairwise tree, or in one sum per window, with the sums of the windows added at the end.
enum class SumOrder : std::uint8_t { ascending, shuffled, pairwise, windows };

/// Options of the small test kernel. The defaults give a correct kernel.
struct CompressPlan {
  SumOrder order = SumOrder::ascending;
  std::uint64_t seed = 1;                                         ///< seed of the shuffled order
  std::function<float(float)> stage = [](float x) { return x; };  ///< rounds every product
  std::function<float(float)> contribution = [](float x) {
    return x;
  };                                                               ///< rounds every window sum
  std::function<float(float)> add_to = [](float x) { return x; };  ///< rounds partial sums
  std::function<float(float)> cast = [](float x) { return x; };
  std::function<float(float)> half_cast = [](float x) {
    return x;
  };  ///< the cast of CompressKernel for fp16
  /// Returns the first token of window i of sequence b. If this function is empty, the windows
  /// begin at the documented tokens.
  std::function<std::int64_t(const CompressOp::Problem&, std::int64_t b, std::int64_t i)> start;
  bool overlap = true;  ///< false: later windows overwrite the result of earlier windows
  std::int64_t skipped_window = -1;  ///< window to omit, counted over all sequences
  std::int64_t weight_channels = 0;  ///< channels over which weight_grad is summed, 0: all
  double weight_factor = 1;
};

/// The gradients, stored row by row in the order of Extents::row. The element of weight_grad for
/// window position w and head n has the index n * compress_block_size + w.
struct CompressGradients {
  std::vector<float> input_grad, weight_grad;
};

/// Contiguous normal inputs.
CompressOp::Inputs compress_inputs(const CompressOp::Problem& problem, std::uint64_t seed);

/// Computes a simple fp32 gradient: lists the products of every element, and adds them in the order
/// that `plan` (the options of the kernel) contains.
CompressGradients run_kernel(const CompressOp::Problem& problem, const CompressOp::Inputs& inputs,
                             const CompressPlan& plan);

/// The small test kernel as an implementation for the judge. It refuses calls that violate binding
/// requirements.
class CompressKernel final : public spec::Implementation<CompressOp> {
 public:
  explicit CompressKernel(CompressPlan plan,
                          spec::Numerics numerics = {.order = spec::Order::fixed})
      : plan_(std::move(plan)), numerics_(numerics) {}

  std::string name() const override { return "naive"; }
  spec::Numerics numerics(const CompressOp::Problem&) const override { return numerics_; }
  void check(const spec::Call<CompressOp>& call) const override;
  void run(const CompressOp::Problem& problem, const CompressOp::Inputs& inputs,
           CompressOp::Outputs& outputs) override;

 private:
  CompressPlan plan_;
  spec::Numerics numerics_;
};

/// Returns the options of a correct kernel. It casts to the type of the problem and rounds ties to
/// even.
CompressPlan healthy_plan(SumOrder order = SumOrder::ascending);

float to_bf16(float x);
float to_fp16(float x);
float to_bf16_away(float x);
float to_fp16_away(float x);
float to_bf16_truncated(float x);

}  // namespace assay::conformance::testing
