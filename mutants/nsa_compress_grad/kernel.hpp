#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "assay/spec/operators/nsa_compress_grad.hpp"
#include "planned_kernel.hpp"

namespace assay::mutants::compress {

using Op = spec::NsaCompressGrad;

enum class WindowOrder : std::uint8_t { ascending, descending, shuffled };
/// The order in which a kernel adds the products of one token and one window: one after the other,
/// in groups of eight as the device does, or pairwise.
enum class ChannelSum : std::uint8_t { chain, groups, tree };

/// The choices that a kernel may make and still conform, if it declares them.
struct Plan {
  std::int64_t cores = 4;  ///< each processes consecutive windows and has its own sum per weight
  WindowOrder window_order = WindowOrder::ascending;
  ChannelSum channel_sum = ChannelSum::chain;
  spec::Rounding round_out = spec::Rounding::rne;
  spec::Order order = spec::Order::any;
};

/// The choices of the model of the Atlas A2 kernel.
inline constexpr Plan device_like = {.channel_sum = ChannelSum::groups};

struct Sequence {
  std::int64_t first, length;  ///< tokens
};

/// Window `index` of sequence b: its first token, and its row in output_grad.
struct TokenWindow {
  std::int64_t b, index, token, row;
};

/// The values of one call, all tensors row-major without gaps.
struct Work {
  const Op::Problem& problem;
  std::int64_t tokens, rows;
  std::vector<float> output_grad, input, weight;
  std::vector<double> input_grad, weight_grad;

  /// Offset of channel 0 of a head, from the start of a token or of a row of output_grad.
  std::size_t at(std::int64_t row, std::int64_t n) const {
    return static_cast<std::size_t>((row * problem.heads + n) * problem.head_dim);
  }
  /// Offset of weight k of a head.
  std::size_t weight_at(std::int64_t k, std::int64_t n) const {
    return static_cast<std::size_t>(k * problem.heads + n);
  }
};

/// A plain kernel: for each window, adds to the gradients of the window's tokens and to the sums of
/// the weights. Every step is a virtual function, so that a mutant overrides the step that it gets
/// wrong.
class Kernel : public PlannedKernel<Op, Plan> {
 public:
  using PlannedKernel::PlannedKernel;

  spec::Numerics numerics(const Op::Problem& problem) const override;
  void run(const Op::Problem& problem, const Op::Inputs& inputs, Op::Outputs& outputs) override;

 protected:
  // Reading the inputs.
  virtual std::vector<float> read(const spec::Tensor& tensor) const;
  virtual void clear(Work& w) const;

  // The windows.
  virtual std::vector<Sequence> sequences(const Work& w) const;
  virtual std::int64_t stride(const Work& w) const { return w.problem.compress_stride; }
  virtual std::int64_t window_count(const Work& w, std::int64_t length) const;
  virtual std::vector<TokenWindow> windows(const Work& w) const;
  /// Returns the windows that one core processes: those from `first` to `last` in `all`.
  virtual std::vector<TokenWindow> windows_of_core(const Work& w,
                                                   const std::vector<TokenWindow>& all,
                                                   std::size_t first, std::size_t last) const;

  // Adds the contributions of one window.
  virtual bool reaches(const Work&, const TokenWindow&, std::int64_t /*k*/) const { return true; }
  virtual bool reaches_weight(const Work&, const TokenWindow&, std::int64_t /*n*/) const {
    return true;
  }
  virtual float weight(const Work& w, std::int64_t k, std::int64_t n) const {
    return w.weight[w.weight_at(k, n)];
  }
  virtual double add_to_input(const Work& w, double sum, double term) const;
  virtual double channel_sum(const Work& w, const TokenWindow& window, std::int64_t k,
                             std::int64_t n) const;
  virtual double add_to_weight(const Work& w, double sum, double term) const;
  /// Adds the sums of all cores.
  virtual std::vector<double> joined(const Work& w, std::vector<std::vector<double>> sums) const;

  // Writing the outputs.
  virtual void adjust(Work&) const {}
  virtual float cast(const Work& w, double value) const;
  virtual bool writes_token(const Work&, std::int64_t /*token*/) const { return true; }
  virtual std::vector<std::int64_t> elements(const spec::Tensor& tensor) const {
    return viewed_elements(tensor);
  }

  /// Returns how many windows of `all` cover a token.
  static std::int64_t covering(const Work& w, const std::vector<TokenWindow>& all,
                               std::int64_t token);

 private:
  Work load(const Op::Problem& problem, const Op::Inputs& inputs) const;
  void add_window(Work& w, const TokenWindow& window, std::vector<double>& sums) const;
  void write(const Work& w, Op::Outputs& outputs) const;

  std::uint64_t runs_ = 0;  ///< shuffled windows have a different order in every run
};

}  // namespace assay::mutants::compress
