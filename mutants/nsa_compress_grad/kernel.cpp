#include "nsa_compress_grad/kernel.hpp"

#include <algorithm>

#include "rounding.hpp"
#include "shuffle.hpp"

namespace assay::mutants::compress {
namespace {

double in_fp32(double value) { return static_cast<double>(static_cast<float>(value)); }

/// Adds neighbouring terms until one number is left; returns 0 if there are no terms.
double pairwise(std::vector<double> terms) {
  for (std::size_t count = terms.size(); count > 1; count = (count + 1) / 2)
    for (std::size_t k = 0; k < count; k += 2)
      terms[k / 2] = k + 1 < count ? in_fp32(terms[k] + terms[k + 1]) : terms[k];
  return terms.empty() ? 0 : terms.front();
}

double chain(const std::vector<double>& terms, std::size_t first, std::size_t last) {
  double sum = 0;
  for (std::size_t k = first; k < std::min(last, terms.size()); ++k) sum = in_fp32(sum + terms[k]);
  return sum;
}

}  // namespace

spec::Numerics Kernel::numerics(const Op::Problem&) const {
  return {.round_out = declared().round_out,
          .overflow = declared().round_out == spec::Rounding::rtz ? spec::Overflow::saturate
                                                                  : spec::Overflow::inf,
          .order = declared().order};
}

void Kernel::run(const Op::Problem& problem, const Op::Inputs& inputs, Op::Outputs& outputs) {
  ++runs_;
  Work w = load(problem, inputs);
  clear(w);
  const std::vector<TokenWindow> all = windows(w);
  const auto cores = static_cast<std::size_t>(plan().cores);
  std::vector<std::vector<double>> sums(cores, std::vector<double>(w.weight.size(), 0));
  for (std::size_t core = 0; core < cores; ++core) {
    std::vector<TokenWindow> own =
        windows_of_core(w, all, core * all.size() / cores, (core + 1) * all.size() / cores);
    if (plan().window_order == WindowOrder::descending) std::ranges::reverse(own);
    if (plan().window_order == WindowOrder::shuffled) shuffle(own, runs_ + core);
    for (const TokenWindow& window : own) add_window(w, window, sums[core]);
  }
  w.weight_grad = joined(w, std::move(sums));
  adjust(w);
  write(w, outputs);
}

Work Kernel::load(const Op::Problem& p, const Op::Inputs& inputs) const {
  return {.problem = p,
          .tokens = inputs.input.shape[0],
          .rows = inputs.output_grad.shape[0],
          .output_grad = read(inputs.output_grad),
          .input = read(inputs.input),
          .weight = read(inputs.weight)};
}

std::vector<float> Kernel::read(const spec::Tensor& tensor) const {
  std::vector<float> values;
  for (const std::int64_t element : viewed_elements(tensor))
    values.push_back(static_cast<float>(tensor.load(element)));
  return values;
}

void Kernel::clear(Work& w) const { w.input_grad.assign(w.input.size(), 0); }

std::vector<Sequence> Kernel::sequences(const Work& w) const {
  std::vector<Sequence> all;
  std::int64_t first = 0;
  for (std::int64_t b = 0; b < w.problem.batch; ++b) {
    all.push_back({first, w.problem.length(b)});
    first += w.problem.length(b);
  }
  return all;
}

std::int64_t Kernel::window_count(const Work& w, std::int64_t length) const {
  const std::int64_t size = w.problem.compress_block_size;
  return length < size ? 0 : (length - size) / stride(w) + 1;
}

std::vector<TokenWindow> Kernel::windows(const Work& w) const {
  std::vector<TokenWindow> all;
  std::int64_t b = 0, row = 0;
  for (const Sequence& sequence : sequences(w)) {
    const std::int64_t count = window_count(w, sequence.length);
    for (std::int64_t i = 0; i < count; ++i)
      all.push_back({b, i, sequence.first + i * stride(w), row++});
    ++b;
  }
  return all;
}

std::vector<TokenWindow> Kernel::windows_of_core(const Work&, const std::vector<TokenWindow>& all,
                                                 std::size_t first, std::size_t last) const {
  const auto begin = all.begin();
  return {begin + static_cast<std::ptrdiff_t>(first), begin + static_cast<std::ptrdiff_t>(last)};
}

void Kernel::add_window(Work& w, const TokenWindow& window, std::vector<double>& sums) const {
  if (window.row >= w.rows) return;
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
      double& sum = sums[w.weight_at(k, n)];
      sum = add_to_weight(w, sum, channel_sum(w, window, k, n));
    }
  }
}

double Kernel::add_to_input(const Work&, double sum, double term) const {
  return in_fp32(sum + term);
}

double Kernel::channel_sum(const Work& w, const TokenWindow& window, std::int64_t k,
                           std::int64_t n) const {
  constexpr std::size_t group = 8;
  std::vector<double> terms;
  for (std::int64_t c = 0; c < w.problem.head_dim; ++c) {
    const auto channel = static_cast<std::size_t>(c);
    terms.push_back(in_fp32(static_cast<double>(w.output_grad[w.at(window.row, n) + channel]) *
                            w.input[w.at(window.token + k, n) + channel]));
  }
  if (plan().channel_sum == ChannelSum::tree) return pairwise(std::move(terms));
  if (plan().channel_sum == ChannelSum::chain) return chain(terms, 0, terms.size());
  std::vector<double> groups;
  for (std::size_t first = 0; first < terms.size(); first += group)
    groups.push_back(chain(terms, first, first + group));
  return chain(groups, 0, groups.size());
}

double Kernel::add_to_weight(const Work&, double sum, double term) const {
  return in_fp32(sum + term);
}

std::vector<double> Kernel::joined(const Work& w, std::vector<std::vector<double>> sums) const {
  std::vector<double> all(w.weight.size());
  for (std::size_t k = 0; k < all.size(); ++k) {
    std::vector<double> terms;
    for (const auto& core : sums) terms.push_back(core[k]);
    all[k] = pairwise(std::move(terms));
  }
  return all;
}

float Kernel::cast(const Work& w, double value) const {
  return rounded(static_cast<float>(value), w.problem.dtype, plan().round_out);
}

void Kernel::write(const Work& w, Op::Outputs& outputs) const {
  const std::int64_t numbers = w.problem.heads * w.problem.head_dim;
  std::int64_t next = 0;
  for (const std::int64_t element : elements(outputs.input_grad)) {
    const std::int64_t number = next++;
    if (writes_token(w, number / numbers))
      outputs.input_grad.store(element, cast(w, w.input_grad[static_cast<std::size_t>(number)]));
  }
  next = 0;
  for (const std::int64_t element : elements(outputs.weight_grad))
    outputs.weight_grad.store(element, cast(w, w.weight_grad[static_cast<std::size_t>(next++)]));
}

std::int64_t Kernel::covering(const Work& w, const std::vector<TokenWindow>& all,
                              std::int64_t token) {
  return std::ranges::count_if(all, [&](const TokenWindow& window) {
    return window.token <= token && token < window.token + w.problem.compress_block_size;
  });
}

}  // namespace assay::mutants::compress
