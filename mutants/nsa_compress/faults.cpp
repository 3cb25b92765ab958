#include <algorithm>
#include <cmath>

#include "misread.hpp"
#include "nsa_compress/families.hpp"

namespace assay::mutants::compress::forward {
namespace {

struct SumsIn16Bits : Kernel {
  using Kernel::Kernel;
  double add(const Work& w, double sum, double term) const override {
    return in_16_bits(w, sum + term);
  }
};

struct ProductsIn16Bits : Kernel {
  using Kernel::Kernel;
  double term(const Work& w, const TokenWindow& window, std::int64_t k, std::int64_t n,
              std::int64_t c) const override {
    return in_16_bits(w, Kernel::term(w, window, k, n, c));
  }
};

struct InputOfHeadZero : Kernel {
  using Kernel::Kernel;
  float value(const Work& w, std::int64_t token, std::int64_t, std::int64_t c) const override {
    return Kernel::value(w, token, 0, c);
  }
};

/// Reads input as if each head had 16 channels less.
struct HeadDim16TooFew : Kernel {
  using Kernel::Kernel;
  float value(const Work& w, std::int64_t token, std::int64_t n, std::int64_t c) const override {
    const std::int64_t head = token * w.problem.heads + n;
    return w.input[static_cast<std::size_t>(head * (w.problem.head_dim - 16) + c)];
  }
};

struct AddsToOldOutput : Kernel {
  using Kernel::Kernel;
  void begin(Work& w, const Op::Inputs&, const Op::Outputs& outputs) const override {
    const std::vector<float> old = read(outputs.output);
    w.output.assign(old.begin(), old.end());
  }
};

struct InputOffsetIgnored : Kernel {
  using Kernel::Kernel;
  void run(const Problem& p, const Op::Inputs& inputs, Op::Outputs& outputs) override {
    Op::Inputs changed = inputs;
    changed.input.offset = 0;
    Kernel::run(p, changed, outputs);
  }
};

/// Replaces each element of output by change(problem, element).
template <auto change>
void each(Work& w) {
  for (double& one : w.output) one = change(w.problem, one);
}

/// Clears the elements of output for which `is_lost(problem, n, c)` returns true.
template <auto is_lost>
void clear_where(Work& w) {
  const std::int64_t heads = w.problem.heads, dim = w.problem.head_dim;
  for (std::size_t k = 0; k < w.output.size(); ++k) {
    const auto at = static_cast<std::int64_t>(k);
    if (is_lost(w.problem, at / dim % heads, at % dim)) w.output[k] = 0;
  }
}

/// Replaces the weights of each head by weight / sum over the window of scale(weight).
template <class Scale>
void normalise(Work& w, const Scale& scale) {
  for (std::int64_t n = 0; n < w.problem.heads; ++n) {
    float sum = 0;
    for (std::int64_t k = 0; k < w.problem.compress_block_size; ++k)
      sum += scale(w.weight[w.weight_at(k, n)]);
    for (std::int64_t k = 0; k < w.problem.compress_block_size; ++k) {
      float& weight = w.weight[w.weight_at(k, n)];
      weight = scale(weight) / sum;
    }
  }
}

void exchange_heads(Work& w) {
  const std::int64_t dim = w.problem.head_dim, size = w.problem.heads * dim;
  for (auto row = w.output.begin(); row != w.output.end(); row += size)
    std::rotate(row, row + dim, row + size);
}

bool is_of_last_channels(const Problem& p, std::int64_t, std::int64_t c) {
  return c + 8 >= p.head_dim;
}
bool is_after_blocks_of_32(const Problem& p, std::int64_t, std::int64_t c) {
  return c >= p.head_dim / 32 * 32;
}
bool is_after_8192_numbers(const Problem& p, std::int64_t n, std::int64_t) {
  return n * p.head_dim >= 8192;
}
/// The kernel stores full blocks of 32 channels. The channels beyond the head overwrite the first
/// channels of the next head.
bool is_overwritten(const Problem& p, std::int64_t n, std::int64_t c) {
  return n > 0 && c < 31 - (p.head_dim + 31) % 32;
}

std::vector<Fault> own_faults() {
  return {
      {"rows_shifted",
       "output is written one row too late",
       {.windows = each_window<[](const Problem&, TokenWindow& one) { ++one.row; }>}},
      {"rows_exchanged", "the first two rows of output are swapped", {.windows = exchange_rows}},
      {"rows_by_token",
       "output has one row for each token, which is the shape in the documentation",
       {.windows = each_window<[](const Problem&, TokenWindow& one) { one.row = one.token; }>}},
      {"tokens_by_row",
       "a window begins at its row times the stride, wherever its sequence begins",
       {.windows = each_window<[](const Problem& p, TokenWindow& one) {
          one.token = one.row * p.compress_stride;
        }>}},
      {"core_repeats_window",
       "the first window of a core is the last window of the previous core",
       {.windows_of_core =
            [](const Work& w, std::vector<TokenWindow>& own) {
              if (!own.empty() && own[0].index > 0) own[0].token -= w.problem.compress_stride;
            }}},
      {"last_core_lost",
       "the last core computes nothing",
       {.windows_of_core =
            [](const Work& w, std::vector<TokenWindow>& own) {
              if (!own.empty() && own.back().row + 1 == w.rows) own.clear();
            }}},
      {"last_sequence_unwritten",
       "the rows of the last sequence are not written",
       {.writes_row =
            [](const Work& w, std::int64_t row) {
              const Problem& p = w.problem;
              return row < w.rows - spec::window_count(p.length(p.batch - 1), p.compress_block_size,
                                                       p.compress_stride);
            }}},
      {"first_token_lost",
       "the first token of a window adds nothing",
       {.reaches = [](const Work&, const TokenWindow&, std::int64_t k) { return k > 0; }}},
      {"last_token_lost",
       "the last token of a window adds nothing",
       {.reaches = [](const Work& w, const TokenWindow&,
                      std::int64_t k) { return k + 1 < w.problem.compress_block_size; }}},
      {"mean",
       "output is the mean over the tokens",
       {.adjust = each<[](const Problem& p, double one) {
          return one / static_cast<double>(p.compress_block_size);
        }>}},
      {"softmax_of_weights",
       "the weights of a window pass through a softmax",
       {.prepare = [](Work& w) { normalise(w, [](float weight) { return std::exp(weight); }); }}},
      {"weights_add_up_to_1",
       "the weights of a window are divided by their sum",
       {.prepare = [](Work& w) { normalise(w, [](float weight) { return weight; }); }}},
      {"negative_clipped",
       "negative numbers of output are replaced by 0",
       {.adjust = each<[](const Problem&, double one) { return std::max(one, 0.0); }>}},
      {"heads_exchanged",
       "every head of output is that of the next head",
       {.adjust = exchange_heads}},
      {"last_channels",
       "the last eight channels are 0",
       {.adjust = clear_where<is_of_last_channels>}},
      {"rest_of_32_channels",
       "channels after the last full block of 32 are 0",
       {.adjust = clear_where<is_after_blocks_of_32>}},
      {"row_of_8192",
       "heads at offset 8,192 or more in a row are 0",
       {.adjust = clear_where<is_after_8192_numbers>}},
      {"all_zeros", "output is 0", {.adjust = each<[](const Problem&, double) { return 0.0; }>}},
      {"all_nan",
       "output is NaN",
       {.adjust = each<[](const Problem&, double) { return std::nan(""); }>}},
      {"one_element_off",
       "the largest element of output is 25 % too large",
       {.adjust = [](Work& w) { *std::ranges::max_element(w.output) *= 1.25; }}},
  };
}

}  // namespace

std::vector<Mutant> number_mutants() {
  return concatenated<Mutant>(
      {plant.changed(window_faults()),
       plant.changed(weight_faults()),
       plant.changed(own_faults()),
       {plant.planted<SumsIn16Bits>("sums_16_bit",
                                    "tokens are accumulated in the type of the tensors"),
        plant.planted<ProductsIn16Bits>("products_16_bit",
                                        "products are rounded before they are added"),
        plant.planted<InputOfHeadZero>("input_of_head_0",
                                       "every head reads the first head of input"),
        plant.planted<HeadDim16TooFew>("head_dim_16_too_few",
                                       "input is read as if each head had 16 channels less"),
        plant.planted<AddsToOldOutput>("adds_to_old_output", "output is added to the old contents"),
        plant.planted<Crashes<Op, Kernel>>("crashes", "the run ends in an exception")},
       plant.strides_ignored(),
       plant.undeclared()});
}

std::vector<Mutant> stride_mutants() {
  using I = Op::Inputs;
  return {plant.planted<WritesWithStridesOf<Op, Kernel, &Op::Outputs::output, &I::input>>(
              "output_strides_of_input", "output is written with the strides of input"),
          plant.planted<InputOffsetIgnored>("input_offset_ignored",
                                            "input is read from the start of its storage"),
          plant.planted<CountsBytesIn32Bits<Op, Kernel, &I::input>>(
              "input_bytes_in_32_bits", "byte offsets in input are computed in 32 bits")};
}

std::vector<Mutant> public_faults() {
  constexpr Planter<Op, Kernel> reported = {"public_forward_", device_like, Subject::many_calls};
  return {reported.changed("windows_across_sequences",
                           "windows continue from one sequence into the next",
                           {.sequences = join_sequences}),
          reported.changed("epilogue_in_32_channels", "output is stored 32 channels at a time",
                           {.adjust = clear_where<is_overwritten>})};
}

}  // namespace assay::mutants::compress::forward
