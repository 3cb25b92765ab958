#include <algorithm>
#include <vector>

#include "nsa_compress_grad/families.hpp"

namespace assay::mutants::compress::grad {
namespace {

/// Fault: if several windows cover a token, the token gets only the contribution of the last
/// window.
struct WindowAssigns : Kernel {
  double add_to_input(const WindowWork&, double, double term) const override { return term; }
};

/// Fault: a token accumulates at most two windows, even if more windows cover the token.
struct TwoWindowsAtMost : Kernel {
  void adjust(WindowWork& w) const override {
    std::vector<int> met(static_cast<std::size_t>(w.tokens));
    std::ranges::fill(w.input_grad, 0.0);
    for (const TokenWindow& window : windows(w))
      for (std::int64_t k = 0; k < w.problem.compress_block_size; ++k) {
        const std::int64_t token = window.token + k;
        if (window.row >= w.rows || token >= w.tokens) continue;
        if (++met[static_cast<std::size_t>(token)] <= 2) add(w, window, k);
      }
  }

 private:
  void add(WindowWork& w, const TokenWindow& window, std::int64_t k) const {
    for (std::int64_t n = 0; n < w.problem.heads; ++n)
      for (std::size_t c = 0; c < static_cast<std::size_t>(w.problem.head_dim); ++c) {
        double& sum = w.input_grad[w.at(window.token + k, n) + c];
        sum = add_to_input(w, sum, weight(w, k, n) * w.output_grad[w.at(window.row, n) + c]);
      }
  }
};

}  // namespace

std::vector<Mutant> public_faults() {
  constexpr WindowInjector<Op, Kernel> reported = {{device_like, "public_", Subject::many_calls}};
  return {
      reported.injected<WindowAssigns>(
          "window_assigns", "if several windows cover a token, it gets only the last contribution"),
      reported.injected<TwoWindowsAtMost>("two_windows_at_most",
                                          "a token accumulates at most two windows"),
      reported.changed("windows_across_sequences",
                       "windows continue from one sequence into the next",
                       {.sequences = join_sequences}),
  };
}

}  // namespace assay::mutants::compress::grad
