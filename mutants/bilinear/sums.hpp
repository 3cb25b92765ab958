#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "assay/spec/numerics.hpp"
#include "planned_kernel.hpp"
#include "rounding.hpp"
#include "shuffle.hpp"

/// The common parts of plain kernels that compute sums of products.
namespace assay::mutants::bilinear {

enum class TermOrder : std::uint8_t { ascending, descending, shuffled };
/// How a kernel adds terms: one after the other, in groups of eight as the device does, or
/// pairwise.
enum class Summation : std::uint8_t { chain, groups, tree };

/// Choices of a kernel, such as the order of a sum. Each choice is correct if the kernel declares
/// it.
struct SummingPlan {
  std::int64_t cores = 4;  ///< each processes consecutive windows
  TermOrder term_order = TermOrder::ascending;
  Summation summation = Summation::chain;
  spec::Rounding round_out = spec::Rounding::rne;
  spec::Order order = spec::Order::any;
};

inline double in_fp32(double value) { return static_cast<double>(static_cast<float>(value)); }

inline float in_16_bits(spec::DType dtype, double value) {
  return rounded(static_cast<float>(value), dtype, spec::Rounding::rne);
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

/// Common base class of the plain kernels that compute sums of products.
template <class Op>
class SummingKernel : public PlannedKernel<Op, SummingPlan> {
 public:
  using PlannedKernel<Op, SummingPlan>::PlannedKernel;

  spec::Numerics numerics(const typename Op::Problem&) const override {
    const SummingPlan& declared = this->declared();
    return {.round_out = declared.round_out,
            .overflow = declared.round_out == spec::Rounding::rtz ? spec::Overflow::saturate
                                                                  : spec::Overflow::inf,
            .order = declared.order};
  }

 protected:
  void begin_run() { ++runs_; }
  /// Reorders values in the order that `plan` states. If this order is "shuffled", it differs from
  /// run to run.
  template <class Value>
  void arrange(std::vector<Value>& values, std::uint64_t seed) const {
    if (this->plan().term_order == TermOrder::descending) std::ranges::reverse(values);
    if (this->plan().term_order == TermOrder::shuffled) shuffle(values, runs_ + seed);
  }
  float cast(const typename Op::Problem& problem, double value) const {
    return rounded(static_cast<float>(value), problem.dtype, this->plan().round_out);
  }

 private:
  std::uint64_t runs_ = 0;
};

}  // namespace assay::mutants::bilinear
