#include "nsa_compress/kernel.hpp"

#include <vector>

namespace assay::mutants::compress::forward {

void Kernel::begin(WindowWork& w, const Op::Inputs&, const Op::Outputs&) const {
  w.output.assign(w.at(w.rows, 0), 0);
}

double Kernel::term(const WindowWork& w, const TokenWindow& window, std::int64_t k, std::int64_t n,
                    std::int64_t c) const {
  return in_fp32(static_cast<double>(weight(w, k, n)) *
                 w.input[w.at(window.token + k, n) + static_cast<std::size_t>(c)]);
}

double Kernel::add(const WindowWork&, double sum, double term) const { return in_fp32(sum + term); }

void Kernel::add_window(WindowWork& w, const TokenWindow& window, std::size_t) const {
  std::vector<std::int64_t> tokens;
  for (std::int64_t k = 0; k < w.problem.compress_block_size; ++k)
    if (window.token + k < w.tokens && reaches(w, window, k)) tokens.push_back(k);
  arrange(tokens, static_cast<std::uint64_t>(window.row));
  for (std::int64_t n = 0; n < w.problem.heads; ++n)
    for (std::int64_t c = 0; c < w.problem.head_dim; ++c) {
      std::vector<double> terms;
      for (const std::int64_t k : tokens) terms.push_back(term(w, window, k, n, c));
      double& sum = w.output[w.at(window.row, n) + static_cast<std::size_t>(c)];
      sum = add(w, sum,
                sum_of(terms, plan().summation, [&](double a, double b) { return add(w, a, b); }));
    }
}

void Kernel::end(WindowWork& w, Op::Outputs& outputs) const {
  adjust(w);
  store(w, w.output, outputs.output);
}

}  // namespace assay::mutants::compress::forward
