#include <algorithm>
#include <limits>
#include <stdexcept>

#include "assay/spec/status.hpp"
#include "nsa_compress_grad/families.hpp"

namespace assay::mutants::compress {
namespace {

struct TailUnwritten : Kernel {
  using Kernel::Kernel;
  bool writes_token(const Work& w, std::int64_t token) const override {
    return covering(w, windows(w), token) > 0;
  }
};

struct NotCleared : Kernel {
  using Kernel::Kernel;
  void clear(Work& w) const override { w.input_grad.assign(w.input.begin(), w.input.end()); }
};

struct TailOfInput : Kernel {
  using Kernel::Kernel;
  void adjust(Work& w) const override {
    const std::vector<TokenWindow> all = windows(w);
    const auto numbers = static_cast<std::size_t>(w.problem.heads * w.problem.head_dim);
    for (std::int64_t token = 0; token < w.tokens; ++token) {
      if (covering(w, all, token) > 0) continue;
      const std::size_t first = w.at(token, 0);
      std::copy_n(w.input.begin() + static_cast<std::ptrdiff_t>(first), numbers,
                  w.input_grad.begin() + static_cast<std::ptrdiff_t>(first));
    }
  }
};

struct InputsAsContiguous : Kernel {
  using Kernel::Kernel;
  std::vector<float> read(const spec::Tensor& tensor) const override {
    std::vector<float> values;
    for (std::int64_t k = 0; k < spec::element_count(tensor.shape); ++k)
      values.push_back(static_cast<float>(tensor.load(tensor.offset + k)));
    return values;
  }
};

struct OutputsAsContiguous : Kernel {
  using Kernel::Kernel;
  std::vector<std::int64_t> elements(const spec::Tensor& tensor) const override {
    std::vector<std::int64_t> all;
    for (std::int64_t k = 0; k < spec::element_count(tensor.shape); ++k)
      all.push_back(tensor.offset + k);
    return all;
  }
};

struct AllZeros : Kernel {
  using Kernel::Kernel;
  void adjust(Work& w) const override {
    std::ranges::fill(w.input_grad, 0);
    std::ranges::fill(w.weight_grad, 0);
  }
};

struct AllNan : Kernel {
  using Kernel::Kernel;
  void adjust(Work& w) const override {
    std::ranges::fill(w.input_grad, std::numeric_limits<double>::quiet_NaN());
    std::ranges::fill(w.weight_grad, std::numeric_limits<double>::quiet_NaN());
  }
};

struct OneElementOff : Kernel {
  using Kernel::Kernel;
  void adjust(Work& w) const override { *std::ranges::max_element(w.input_grad) *= 1.25; }
};

struct Crashes : Kernel {
  using Kernel::Kernel;
  void run(const Op::Problem&, const Op::Inputs&, Op::Outputs&) override {
    throw std::runtime_error("aicore error: timeout or trap error");
  }
};

}  // namespace

std::vector<Mutant> output_mutants() {
  Plan shuffled = device_like, fixed = device_like, away = device_like, truncating = device_like;
  shuffled.cores = 1, shuffled.window_order = WindowOrder::shuffled;
  fixed.order = spec::Order::fixed;
  away.round_out = spec::Rounding::rna;
  truncating.round_out = spec::Rounding::rtz;
  return {
      planted<TailUnwritten>("compress_tail_unwritten",
                             "tokens that no window covers are not written"),
      planted<TailOfInput>("compress_tail_of_input",
                           "tokens that no window covers keep the old contents"),
      planted<NotCleared>("compress_not_cleared", "input_grad is added to the old contents"),
      planted<InputsAsContiguous>("compress_inputs_as_contiguous",
                                  "strides of the inputs are ignored"),
      planted<OutputsAsContiguous>("compress_outputs_as_contiguous",
                                   "strides of the outputs are ignored"),
      planted<AllZeros>("compress_all_zeros", "every gradient is 0"),
      planted<AllNan>("compress_all_nan", "every gradient is NaN"),
      planted<OneElementOff>("compress_one_element_off",
                             "the largest element of input_grad is 25 % too large"),
      planted<Crashes>("compress_crashes", "the run ends in an exception"),
      misdeclared_in<Op, Kernel>("compress_undeclared_order",
                                 "the order changes from run to run, but a fixed order is declared",
                                 shuffled, fixed),
      misdeclared_in<Op, Kernel>("compress_undeclared_half_away",
                                 "rounds casts half away from zero, but declares ties to "
                                 "even",
                                 away, device_like),
      misdeclared_in<Op, Kernel>("compress_undeclared_truncation",
                                 "the cast truncates, but ties to even is declared", truncating,
                                 device_like),
  };
}

}  // namespace assay::mutants::compress
