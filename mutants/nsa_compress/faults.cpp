#include <cmath>

#include "misread.hpp"
#include "nsa_compress/families.hpp"

namespace assay::mutants::compress::forward {
namespace {

struct SumsIn16Bits : Kernel {
  double add(const WindowWork& w, double sum, double term) const override {
    return in_16_bits(w.problem.dtype, sum + term);
  }
};

struct ProductsIn16Bits : Kernel {
  double term(const WindowWork& w, const TokenWindow& window, std::int64_t k, std::int64_t n,
              std::int64_t c) const override {
    return in_16_bits(w.problem.dtype, Kernel::term(w, window, k, n, c));
  }
};

/// Fault: normalizes the weights of each head. Divides each weight by the sum of scale(weight) over
/// the window.
template <class Scale>
void normalise(WindowWork& w, const Scale& scale) {
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

std::vector<Fault> own_faults() {
  return {
      {"rows_by_token",
       "output has one row for each token, which is the shape in the documentation",
       {.windows = each_window<[](const Problem&, TokenWindow& one) { one.row = one.token; }>}},
      {"tokens_by_row",
       "a window begins at its row index times the stride, even if its sequence begins elsewhere",
       {.windows = each_window<[](const Problem& p, TokenWindow& one) {
          one.token = one.row * p.compress_stride;
        }>}},
      {"core_repeats_window",
       "the first window of a core is the last window of the previous core",
       {.windows_of_core =
            [](const WindowWork& w, std::vector<TokenWindow>& own) {
              if (!own.empty() && own[0].index > 0) own[0].token -= w.problem.compress_stride;
            }}},
      {"last_core_lost",
       "the last core computes nothing",
       {.windows_of_core =
            [](const WindowWork& w, std::vector<TokenWindow>& own) {
              if (!own.empty() && own.back().row + 1 == w.rows) own.clear();
            }}},
      {"last_sequence_unwritten",
       "the rows of the last sequence are not written",
       {.writes_row =
            [](const WindowWork& w, std::int64_t row) {
              const Problem& p = w.problem;
              return row < w.rows - spec::window_count(p.length(p.batch - 1), p.compress_block_size,
                                                       p.compress_stride);
            }}},
      {"first_token_lost",
       "the first token of a window adds nothing",
       {.reaches = [](const WindowWork&, const TokenWindow&, std::int64_t k) { return k > 0; }}},
      {"last_token_lost",
       "the last token of a window adds nothing",
       {.reaches = [](const WindowWork& w, const TokenWindow&,
                      std::int64_t k) { return k + 1 < w.problem.compress_block_size; }}},
      {"mean",
       "output is the mean over the tokens",
       {.adjust =
            [](WindowWork& w) {
              for (double& one : w.output)
                one /= static_cast<double>(w.problem.compress_block_size);
            }}},
      {"softmax_of_weights",
       "the weights of a window pass through a softmax",
       {.prepare =
            [](WindowWork& w) { normalise(w, [](float weight) { return std::exp(weight); }); }}},
      {"weights_add_up_to_1",
       "the weights of a window are divided by their sum",
       {.prepare = [](WindowWork& w) { normalise(w, [](float weight) { return weight; }); }}},
  };
}

}  // namespace

std::vector<Mutant> number_mutants() {
  using I = Op::Inputs;
  return concatenated<Mutant>(
      {inject.changed(window_faults()),
       inject.changed(own_faults()),
       inject.tampered<&I::input>({"of_head_0"}),
       inject.tampered<&I::input>({"head_dim_16_too_few"}, false),
       inject.tampered<&I::weight>({"reversed", "transposed", "of_head_0"}),
       inject.tampered<&Op::Outputs::output>({"rows_shifted", "rows_exchanged", "negative_clipped",
                                              "heads_exchanged", "last_channels",
                                              "rest_of_32_channels", "row_of_8192", "all_zeros",
                                              "all_nan", "one_element_off", "adds_to_old_output"}),
       {inject.injected<SumsIn16Bits>("sums_16_bit",
                                      "tokens are accumulated in the type of the tensors"),
        inject.injected<ProductsIn16Bits>("products_16_bit",
                                          "products are rounded before they are added"),
        inject.injected<Crashes<Op, Kernel>>("crashes", "the run ends in an exception"),
        inject.injected<WritesWithStridesOf<Op, Kernel, &Op::Outputs::output, &I::input>>(
            "output_strides_of_input", "output is written with the strides of input"),
        inject.injected<OffsetIgnored<Op, Kernel, &I::input>>(
            "input_offset_ignored", "input is read from the start of its storage"),
        inject.injected<CountsBytesIn32Bits<Op, Kernel, &I::input>>(
            "input_bytes_in_32_bits", "byte offsets in input are computed in 32 bits")},
       inject.strides_ignored(),
       inject.undeclared()});
}

std::vector<Mutant> public_faults() {
  constexpr WindowInjector<Op, Kernel> reported = {{device_like, "public_", Subject::many_calls}};
  std::vector<Mutant> all = reported.tampered<&Op::Outputs::output>({"epilogue_in_32_channels"});
  all.push_back(reported.changed("windows_across_sequences",
                                 "windows continue from one sequence into the next",
                                 {.sequences = join_sequences}));
  return all;
}

}  // namespace assay::mutants::compress::forward
