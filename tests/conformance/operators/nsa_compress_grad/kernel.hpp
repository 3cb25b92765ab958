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

/// How a small kernel of the tests sums products: one chain in ascending or random order, a
/// pairwise tree, or a chain a window whose sums are added.
enum class SumOrder : std::uint8_t { ascending, shuffled, pairwise, windows };

/// What a small kernel of the tests does; the defaults are healthy.
struct CompressPlan {
  SumOrder order = SumOrder::ascending;
  std::uint64_t seed = 1;                                                ///< of the shuffled order
  std::function<float(float)> stage = [](float x) { return x; };         ///< of every product
  std::function<float(float)> contribution = [](float x) { return x; };  ///< of every window's sum
  std::function<float(float)> add_to = [](float x) { return x; };        ///< of every partial sum
  std::function<float(float)> cast = [](float x) { return x; };
  std::function<float(float)> half_cast = [](float x) {
    return x;
  };  ///< of CompressKernel, where the type is fp16
  /// Tokens between windows, and the first token of window i of a sequence; 0 and nothing: as
  /// documented.
  std::function<std::int64_t(const CompressOp::Problem&, std::int64_t b, std::int64_t i)> start;
  bool overlap = true;  ///< false: later windows replace what earlier ones gave a token
  std::int64_t skipped_window = -1;  ///< counted over all sequences
  std::int64_t weight_channels = 0;  ///< channels of which weight_grad is summed, 0: all
  double weight_factor = 1;
};

/// By rows in the order of Extents::row; weight_grad (w, n) at n * compress_block_size + w.
struct CompressGradients {
  std::vector<float> input_grad, weight_grad;
};

/// Contiguous inputs with the given values: normal ones where `value` is empty.
CompressOp::Inputs compress_inputs(const CompressOp::Problem& problem, std::uint64_t seed);

/// Naive fp32 gradient: lists the products of every element, then sums them as planned.
CompressGradients run_kernel(const CompressOp::Problem& problem, const CompressOp::Inputs& inputs,
                             const CompressPlan& plan);

/// The small kernel as an implementation that refuses what breaks a row that binds.
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

/// Casts to the type of the problem, ties to even.
CompressPlan healthy_plan(SumOrder order = SumOrder::ascending);

float to_bf16(float x);
float to_fp16(float x);
float to_bf16_away(float x);
float to_fp16_away(float x);
float to_bf16_truncated(float x);

}  // namespace assay::conformance::testing
