#include <algorithm>

#include "nsa_compress_grad/families.hpp"
#include "rounding.hpp"

namespace assay::mutants::compress {
namespace {

struct OverlapOnce : Kernel {
  using Kernel::Kernel;
  double add_to_input(const Work&, double, double term) const override { return term; }
};

struct WeightReversed : Kernel {
  using Kernel::Kernel;
  float weight(const Work& w, std::int64_t k, std::int64_t n) const override {
    return Kernel::weight(w, w.problem.compress_block_size - 1 - k, n);
  }
};

struct WeightTransposed : Kernel {
  using Kernel::Kernel;
  float weight(const Work& w, std::int64_t k, std::int64_t n) const override {
    return w.weight[static_cast<std::size_t>(n * w.problem.compress_block_size + k)];
  }
};

struct WeightOfHeadZero : Kernel {
  using Kernel::Kernel;
  float weight(const Work& w, std::int64_t k, std::int64_t) const override {
    return Kernel::weight(w, k, 0);
  }
};

struct OneChannel : Kernel {
  using Kernel::Kernel;
  double channel_sum(const Work& w, const TokenWindow& window, std::int64_t k,
                     std::int64_t n) const override {
    return static_cast<double>(w.output_grad[w.at(window.row, n)]) *
           w.input[w.at(window.token + k, n)];
  }
};

struct LastGroupOfChannels : Kernel {
  using Kernel::Kernel;
  double channel_sum(const Work& w, const TokenWindow& window, std::int64_t k,
                     std::int64_t n) const override {
    double sum = 0;
    for (std::int64_t c = 0; c + 8 < w.problem.head_dim; ++c)
      sum += static_cast<double>(w.output_grad[w.at(window.row, n) + static_cast<std::size_t>(c)]) *
             w.input[w.at(window.token + k, n) + static_cast<std::size_t>(c)];
    return sum;
  }
};

struct OneSequence : Kernel {
  using Kernel::Kernel;
  bool reaches_weight(const Work& w, const TokenWindow& window, std::int64_t) const override {
    return window.b == windows(w).back().b;
  }
};

struct OneHead : Kernel {
  using Kernel::Kernel;
  void adjust(Work& w) const override {
    for (std::int64_t k = 0; k < w.problem.compress_block_size; ++k)
      for (std::int64_t n = 1; n < w.problem.heads; ++n)
        w.weight_grad[w.weight_at(k, n)] = w.weight_grad[w.weight_at(k, 0)];
  }
};

struct LastCoreLost : Kernel {
  using Kernel::Kernel;
  std::vector<double> joined(const Work& w, std::vector<std::vector<double>> sums) const override {
    sums.pop_back();
    return Kernel::joined(w, std::move(sums));
  }
};

struct MeanOverWindows : Kernel {
  using Kernel::Kernel;
  void adjust(Work& w) const override {
    const auto count = static_cast<double>(std::max<std::int64_t>(1, w.rows));
    for (double& value : w.weight_grad) value /= count;
  }
};

struct WeightSumsIn16Bit : Kernel {
  using Kernel::Kernel;
  double add_to_weight(const Work& w, double sum, double term) const override {
    return rounded(static_cast<float>(sum + term), w.problem.dtype, spec::Rounding::rne);
  }
};

struct InputSumsIn16Bit : Kernel {
  using Kernel::Kernel;
  double add_to_input(const Work& w, double sum, double term) const override {
    return rounded(static_cast<float>(sum + term), w.problem.dtype, spec::Rounding::rne);
  }
};

struct PartialsIn16Bit : Kernel {
  using Kernel::Kernel;
  std::vector<double> joined(const Work& w, std::vector<std::vector<double>> sums) const override {
    for (auto& core : sums)
      for (double& sum : core)
        sum = rounded(static_cast<float>(sum), w.problem.dtype, spec::Rounding::rne);
    return Kernel::joined(w, std::move(sums));
  }
};

struct RowsExchanged : Kernel {
  using Kernel::Kernel;
  std::vector<TokenWindow> windows(const Work& w) const override {
    std::vector<TokenWindow> all = Kernel::windows(w);
    if (all.size() > 1) std::swap(all[0].row, all[1].row);
    return all;
  }
};

}  // namespace

std::vector<Mutant> sum_mutants() {
  return {
      planted<OverlapOnce>("compress_overlap_once",
                           "if several windows cover a token, only one contributes to it"),
      planted<WeightReversed>("compress_weight_reversed", "the weights are used in reverse order"),
      planted<WeightTransposed>("compress_weight_transposed", "weight is read as (N, block size)"),
      planted<WeightOfHeadZero>("compress_weight_of_head_0",
                                "every head uses the weights of the first one"),
      planted<OneChannel>("compress_one_channel", "weight_grad is not summed over the channels"),
      planted<LastGroupOfChannels>("compress_last_channels",
                                   "the last eight channels are missing in weight_grad"),
      planted<OneSequence>("compress_one_sequence",
                           "weight_grad is summed over the last sequence only"),
      planted<OneHead>("compress_one_head", "every head has the weight_grad of the first head"),
      planted<LastCoreLost>("compress_last_core_lost",
                            "weight_grad omits the sums of the last core"),
      planted<MeanOverWindows>("compress_mean", "weight_grad is the mean over the windows"),
      planted<WeightSumsIn16Bit>("compress_weight_sums_16_bit",
                                 "weight_grad is accumulated in the type of the tensors"),
      planted<InputSumsIn16Bit>("compress_input_sums_16_bit",
                                "input_grad is accumulated in the type of the tensors"),
      planted<PartialsIn16Bit>("compress_partials_16_bit",
                               "the sums of the cores are rounded before they are added"),
      planted<RowsExchanged>("compress_rows_exchanged",
                             "the first two rows of output_grad are swapped"),
  };
}

}  // namespace assay::mutants::compress
