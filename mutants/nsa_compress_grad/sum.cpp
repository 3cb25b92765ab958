#include <algorithm>

#include "nsa_compress_grad/families.hpp"

namespace assay::mutants::compress::grad {
namespace {

struct OverlapOnce : Kernel {
  double add_to_input(const WindowWork&, double, double term) const override { return term; }
};

struct OneChannel : Kernel {
  double channel_sum(const WindowWork& w, const TokenWindow& window, std::int64_t k,
                     std::int64_t n) const override {
    return static_cast<double>(w.output_grad[w.at(window.row, n)]) *
           w.input[w.at(window.token + k, n)];
  }
};

struct LastGroupOfChannels : Kernel {
  double channel_sum(const WindowWork& w, const TokenWindow& window, std::int64_t k,
                     std::int64_t n) const override {
    double sum = 0;
    for (std::int64_t c = 0; c + 8 < w.problem.head_dim; ++c)
      sum += static_cast<double>(w.output_grad[w.at(window.row, n) + static_cast<std::size_t>(c)]) *
             w.input[w.at(window.token + k, n) + static_cast<std::size_t>(c)];
    return sum;
  }
};

struct OneSequence : Kernel {
  bool reaches_weight(const WindowWork& w, const TokenWindow& window, std::int64_t) const override {
    return window.b == windows(w).back().b;
  }
};

struct LastCoreLost : Kernel {
  std::vector<double> joined(const WindowWork& w,
                             std::vector<std::vector<double>> sums) const override {
    sums.pop_back();
    return Kernel::joined(w, std::move(sums));
  }
};

struct WeightSumsIn16Bit : Kernel {
  double add_to_weight(const WindowWork& w, double sum, double term) const override {
    return in_16_bits(w.problem.dtype, sum + term);
  }
};

struct InputSumsIn16Bit : Kernel {
  double add_to_input(const WindowWork& w, double sum, double term) const override {
    return in_16_bits(w.problem.dtype, sum + term);
  }
};

struct PartialsIn16Bit : Kernel {
  std::vector<double> joined(const WindowWork& w,
                             std::vector<std::vector<double>> sums) const override {
    for (auto& core : sums)
      for (double& sum : core) sum = in_16_bits(w.problem.dtype, sum);
    return Kernel::joined(w, std::move(sums));
  }
};

}  // namespace

std::vector<Mutant> sum_mutants() {
  return concatenated<Mutant>({
      {inject.injected<OverlapOnce>(
          "overlap_once", "if several windows cover a token, only one contributes to it")},
      inject.tampered<&Op::Inputs::weight>({"reversed", "transposed", "of_head_0"}),
      {
          inject.injected<OneChannel>("one_channel", "weight_grad is not summed over the channels"),
          inject.injected<LastGroupOfChannels>(
              "last_channels", "the last eight channels are missing in weight_grad"),
          inject.injected<OneSequence>("one_sequence",
                                       "weight_grad is summed over the last sequence only"),
          inject.changed(
              "one_head", "every head has the weight_grad of the first head",
              {.adjust =
                   [](WindowWork& w) {
                     for (std::size_t k = 0; k < w.weight_grad.size(); ++k)
                       w.weight_grad[k] =
                           w.weight_grad[k - k % static_cast<std::size_t>(w.problem.heads)];
                   }}),
          inject.injected<LastCoreLost>("last_core_lost",
                                        "weight_grad omits the sums of the last core"),
          inject.changed("mean", "weight_grad is the mean over the windows",
                         {.adjust =
                              [](WindowWork& w) {
                                const auto count =
                                    static_cast<double>(std::max<std::int64_t>(1, w.rows));
                                for (double& value : w.weight_grad) value /= count;
                              }}),
          inject.injected<WeightSumsIn16Bit>(
              "weight_sums_16_bit", "weight_grad is accumulated in the type of the tensors"),
          inject.injected<InputSumsIn16Bit>("input_sums_16_bit",
                                            "input_grad is accumulated in the type of the tensors"),
          inject.injected<PartialsIn16Bit>(
              "partials_16_bit", "the sums of the cores are rounded before they are added"),
          inject.changed("rows_exchanged", "the first two rows of output_grad are swapped",
                         {.windows = exchange_rows}),
      },
  });
}

}  // namespace assay::mutants::compress::grad
