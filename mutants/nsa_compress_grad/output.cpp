#include <algorithm>
#include <limits>

#include "nsa_compress_grad/families.hpp"

namespace assay::mutants::compress::grad {
namespace {

void fill(WindowWork& w, double value) {
  std::ranges::fill(w.input_grad, value);
  std::ranges::fill(w.weight_grad, value);
}

void keep_tail_of_input(WindowWork& w) {
  const auto numbers = static_cast<std::size_t>(w.problem.heads * w.problem.head_dim);
  for (std::size_t k = 0; k < w.input.size(); ++k)
    if (!is_covered(w, static_cast<std::int64_t>(k / numbers))) w.input_grad[k] = w.input[k];
}

}  // namespace

std::vector<Mutant> output_mutants() {
  return concatenated<Mutant>(
      {{inject.changed("tail_unwritten", "tokens that no window covers are not written",
                       {.writes_row = is_covered}),
        inject.changed("tail_of_input", "tokens that no window covers keep the old contents",
                       {.adjust = keep_tail_of_input}),
        inject.changed(
            "not_cleared", "input_grad is added to the old contents",
            {.prepare =
                 [](WindowWork& w) { w.input_grad.assign(w.input.begin(), w.input.end()); }})},
       inject.strides_ignored(),
       inject.tampered<&Op::Outputs::input_grad>({"one_element_off"}),
       {inject.changed("all_zeros", "every gradient is 0",
                       {.adjust = [](WindowWork& w) { fill(w, 0); }}),
        inject.changed(
            "all_nan", "every gradient is NaN",
            {.adjust = [](WindowWork& w) { fill(w, std::numeric_limits<double>::quiet_NaN()); }}),

        inject.injected<Crashes<Op, Kernel>>("crashes", "the run ends in an exception")},
       inject.undeclared()});
}

}  // namespace assay::mutants::compress::grad
