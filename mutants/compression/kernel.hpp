#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "assay/spec/numerics.hpp"
#include "compression/windows.hpp"
#include "planned_kernel.hpp"
#include "rounding.hpp"
#include "shuffle.hpp"

namespace assay::mutants::compress {

/// The order in which a core processes its windows; in the forward also the tokens of a window.
enum class TermOrder : std::uint8_t { ascending, descending, shuffled };
/// How a kernel adds terms (the gradient: the channels of one token and one window; the forward:
/// the tokens of a window): one after the other, in groups of eight as the device does, or
/// pairwise.
enum class Summation : std::uint8_t { chain, groups, tree };

/// The choices that a kernel may make and still conform, if it declares them.
struct Plan {
  std::int64_t cores = 4;  ///< each processes consecutive windows
  TermOrder term_order = TermOrder::ascending;
  Summation summation = Summation::chain;
  spec::Rounding round_out = spec::Rounding::rne;
  spec::Order order = spec::Order::any;
};

inline double in_fp32(double value) { return static_cast<double>(static_cast<float>(value)); }

inline float in_16_bits(const Work& w, double value) {
  return rounded(static_cast<float>(value), w.problem.dtype, spec::Rounding::rne);
}

/// Adds the terms; `add(sum, term)` adds two numbers. Returns 0 if there are no terms.
template <class Add>
double sum_of(std::vector<double> terms, Summation summation, const Add& add) {
  constexpr std::size_t group = 8;
  const auto chain = [&](std::size_t first, std::size_t last) {
    double sum = 0;
    for (std::size_t k = first; k < std::min(last, terms.size()); ++k) sum = add(sum, terms[k]);
    return sum;
  };
  if (summation == Summation::tree)
    for (std::size_t count = terms.size(); count > 1; count = (count + 1) / 2)
      for (std::size_t k = 0; k < count; k += 2)
        terms[k / 2] = k + 1 < count ? add(terms[k], terms[k + 1]) : terms[k];
  if (summation == Summation::tree) return terms.empty() ? 0 : terms.front();
  if (summation == Summation::chain) return chain(0, terms.size());
  double sum = 0;
  for (std::size_t first = 0; first < terms.size(); first += group)
    sum = add(sum, chain(first, first + group));
  return sum;
}

/// A plain kernel that processes window by window.
template <class Op>
class WindowKernel : public PlannedKernel<Op, Plan>, protected WindowSteps {
 public:
  using PlannedKernel<Op, Plan>::PlannedKernel;

  spec::Numerics numerics(const Problem&) const override {
    const Plan& declared = this->declared();
    return {.round_out = declared.round_out,
            .overflow = declared.round_out == spec::Rounding::rtz ? spec::Overflow::saturate
                                                                  : spec::Overflow::inf,
            .order = declared.order};
  }
  void run(const Problem& problem, const typename Op::Inputs& inputs,
           typename Op::Outputs& outputs) override {
    ++runs_;
    Work w = {.problem = problem,
              .tokens = inputs.input.shape[0],
              .rows = spec::output_shape(problem)[0],
              .input = read(inputs.input),
              .weight = read(inputs.weight)};
    begin(w, inputs, outputs);
    prepare(w);
    const std::vector<TokenWindow> all = windows(w);
    const auto cores = static_cast<std::size_t>(this->plan().cores);
    for (std::size_t core = 0; core < cores; ++core) {
      std::vector<TokenWindow> own =
          windows_of_core(w, all, core * all.size() / cores, (core + 1) * all.size() / cores);
      arrange(own, core);
      for (const TokenWindow& window : own)
        if (window.row < w.rows) add_window(w, window, core);
    }
    end(w, outputs);
  }

 protected:
  /// Reads the remaining tensors and sets the sums to 0.
  virtual void begin(Work& w, const typename Op::Inputs& inputs,
                     const typename Op::Outputs& outputs) const = 0;
  virtual void add_window(Work& w, const TokenWindow& window, std::size_t core) const = 0;
  /// Completes the sums, calls `adjust` and writes the outputs.
  virtual void end(Work& w, typename Op::Outputs& outputs) const = 0;
  virtual float cast(const Work& w, double value) const {
    return rounded(static_cast<float>(value), w.problem.dtype, this->plan().round_out);
  }

  /// Brings values into the order of the plan. A shuffled order differs from run to run.
  template <class Value>
  void arrange(std::vector<Value>& values, std::uint64_t seed) const {
    if (this->plan().term_order == TermOrder::descending) std::ranges::reverse(values);
    if (this->plan().term_order == TermOrder::shuffled) shuffle(values, runs_ + seed);
  }
  void store(const Work& w, const std::vector<double>& values, spec::Tensor& tensor) const {
    const bool has_channels = tensor.shape.size() == 3;
    const std::int64_t row_size = has_channels ? w.problem.heads * w.problem.head_dim : 1;
    std::int64_t next = 0;
    for (const std::int64_t element : elements(tensor)) {
      const std::int64_t number = next++;
      if (!has_channels || writes_row(w, number / row_size))
        tensor.store(element, cast(w, values[static_cast<std::size_t>(number)]));
    }
  }

 private:
  std::uint64_t runs_ = 0;
};

}  // namespace assay::mutants::compress
