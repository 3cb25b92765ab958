#include "nsa_compress_grad/kernel.hpp"

#include <utility>

namespace assay::mutants::compress::grad {
namespace {

double sum_in_fp32(double a, double b) { return in_fp32(a + b); }

}  // namespace

void Kernel::begin(WindowWork& w, const Op::Inputs& inputs, const Op::Outputs&) const {
  w.output_grad = read(inputs.output_grad);
  w.input_grad.assign(w.input.size(), 0);
  w.core_sums.assign(static_cast<std::size_t>(plan().cores),
                     std::vector<double>(w.weight.size(), 0));
}

void Kernel::add_window(WindowWork& w, const TokenWindow& window, std::size_t core) const {
  for (std::int64_t k = 0; k < w.problem.compress_block_size; ++k) {
    const std::int64_t token = window.token + k;
    if (token >= w.tokens || !reaches(w, window, k)) continue;
    for (std::int64_t n = 0; n < w.problem.heads; ++n) {
      const double factor = weight(w, k, n);
      for (std::int64_t c = 0; c < w.problem.head_dim; ++c) {
        const auto channel = static_cast<std::size_t>(c);
        double& sum = w.input_grad[w.at(token, n) + channel];
        sum = add_to_input(w, sum, in_fp32(factor * w.output_grad[w.at(window.row, n) + channel]));
      }
      if (!reaches_weight(w, window, n)) continue;
      double& sum = w.core_sums[core][w.weight_at(k, n)];
      sum = add_to_weight(w, sum, channel_sum(w, window, k, n));
    }
  }
}

double Kernel::add_to_input(const WindowWork&, double sum, double term) const {
  return in_fp32(sum + term);
}

double Kernel::channel_sum(const WindowWork& w, const TokenWindow& window, std::int64_t k,
                           std::int64_t n) const {
  std::vector<double> terms;
  for (std::int64_t c = 0; c < w.problem.head_dim; ++c) {
    const auto channel = static_cast<std::size_t>(c);
    terms.push_back(in_fp32(static_cast<double>(w.output_grad[w.at(window.row, n) + channel]) *
                            w.input[w.at(window.token + k, n) + channel]));
  }
  return sum_of(std::move(terms), plan().summation, sum_in_fp32);
}

double Kernel::add_to_weight(const WindowWork&, double sum, double term) const {
  return in_fp32(sum + term);
}

std::vector<double> Kernel::joined(const WindowWork& w,
                                   std::vector<std::vector<double>> sums) const {
  std::vector<double> all(w.weight.size());
  for (std::size_t k = 0; k < all.size(); ++k) {
    std::vector<double> terms;
    for (const auto& core : sums) terms.push_back(core[k]);
    all[k] = sum_of(std::move(terms), Summation::tree, sum_in_fp32);
  }
  return all;
}

void Kernel::end(WindowWork& w, Op::Outputs& outputs) const {
  w.weight_grad = joined(w, std::move(w.core_sums));
  adjust(w);
  store(w, w.input_grad, outputs.input_grad);
  store(w, w.weight_grad, outputs.weight_grad);
}

}  // namespace assay::mutants::compress::grad
