#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "bilinear/injector.hpp"
#include "checked.hpp"
#include "misread.hpp"

namespace assay::mutants::bilinear {

/// Indices of two input tokens. The product of these tokens is added to one output token.
struct TokenPair {
  std::int64_t left, right;
};

/// The terms of one output token. `left`, `right`: indices of two inputs. If the output has
/// channels, channel c is the sum of left * right[c] over the terms. Otherwise the output is the
/// sum of left[c] * right[c] over the terms and the channels.
struct Terms {
  std::size_t left, right;
  std::vector<TokenPair> pairs;
};

/// Returns the terms of one output token, which are the same for all heads. Each operator has a
/// specialization for its mutants. To be an independent check, the specialization shares no code
/// with the reference.
template <class Op>
Terms terms_of(const typename Op::Problem& problem, std::size_t output, std::int64_t token);

/// A plain kernel for packed tensors (tokens, heads, channels) or (tokens, heads): adds the terms
/// of every output one by one in fp32. A derived class with a fault overrides a step.
template <class Op>
class Kernel : public SummingKernel<Op> {
 public:
  using SummingKernel<Op>::SummingKernel;

  void run(const typename Op::Problem& problem, const typename Op::Inputs& inputs,
           typename Op::Outputs& outputs) override {
    this->begin_run();
    std::vector<Values> operands;
    visit_fields(inputs, [&](std::string_view, const spec::Tensor& tensor) {
      operands.push_back(values_of(tensor));
    });
    std::size_t output = 0;
    visit_fields(outputs, [&](std::string_view, spec::Tensor& tensor) {
      Values sums = values_of(tensor);
      for (std::int64_t t = 0; t < sums.tokens(); ++t) {
        Terms terms = terms_of<Op>(problem, output, t);
        choose(terms);
        this->arrange(terms.pairs, static_cast<std::uint64_t>(t));
        for (std::int64_t n = 0; n < sums.heads(); ++n)
          for (std::int64_t c = 0; c < sums.channels(); ++c)
            sums.at(t, n, c) =
                this->cast(problem, sum(problem, operands, terms, n, c, sums.shape.size() < 3));
      }
      store(sums, tensor);
      ++output;
    });
  }

 protected:
  /// Changes the terms before the kernel adds them.
  virtual void choose(Terms&) const {}
  virtual double multiply(const typename Op::Problem&, double a, double b) const {
    return in_fp32(a * b);
  }
  virtual double add(const typename Op::Problem&, double sum, double term) const {
    return in_fp32(sum + term);
  }

 private:
  double sum(const typename Op::Problem& problem, const std::vector<Values>& operands,
             const Terms& terms, std::int64_t n, std::int64_t c, bool contracts) const {
    const Values &left = operands[terms.left], &right = operands[terms.right];
    std::vector<double> products;
    for (const auto& [l, r] : terms.pairs)
      for (std::int64_t k = contracts ? 0 : c; k < (contracts ? right.channels() : c + 1); ++k)
        products.push_back(multiply(problem, left.at(l, n, contracts ? k : 0), right.at(r, n, k)));
    return sum_of(std::move(products), this->plan().summation,
                  [&](double a, double b) { return add(problem, a, b); });
  }
};

template <class Op>
struct FirstTermLost : Kernel<Op> {
  void choose(Terms& terms) const override {
    if (terms.pairs.size() > 1) terms.pairs.erase(terms.pairs.begin());
  }
};
template <class Op>
struct LastTermLost : Kernel<Op> {
  void choose(Terms& terms) const override {
    if (!terms.pairs.empty()) terms.pairs.pop_back();
  }
};
template <class Op>
struct SumsIn16Bits : Kernel<Op> {
  double add(const typename Op::Problem& p, double sum, double term) const override {
    return in_16_bits(p.dtype, sum + term);
  }
};
template <class Op>
struct ProductsIn16Bits : Kernel<Op> {
  double multiply(const typename Op::Problem& p, double a, double b) const override {
    return in_16_bits(p.dtype, a * b);
  }
};
template <class Op>
struct DoubleSums : Kernel<Op> {
  double add(const typename Op::Problem&, double sum, double term) const override {
    return sum + term;
  }
};

/// Returns mutants with faults in one tensor. `number`: row of this tensor in the operator's table
/// of tensors.
template <class Op, std::size_t number>
std::vector<MutantOf<Op>> tensor_mutants_of() {
  constexpr auto row = std::get<number>(spec::table_of<Op>);
  constexpr Injector<Op, Kernel<Op>> inject = {{}};
  if constexpr (requires(typename Op::Inputs & inputs) { inputs.*row.member; })
    return inject.template tampered<row.member>({"of_head_0", "transposed", "reversed"});
  else
    return inject.template tampered<row.member>(
        {"rows_shifted", "heads_exchanged", "negative_clipped", "all_zeros", "all_nan",
         "one_element_off", "scale_one_percent_more", "adds_to_old_output"},
        true);
}

/// Returns the mutants that all operators with sums of products of two inputs have: correct
/// variants, and kernels with faults in sums, in each tensor, in declared properties, and in
/// argument checks. `own`: the mutants of this operator alone, which are added at the end.
template <class Op>
std::vector<MutantOf<Op>> mutants_of(const std::vector<MutantOf<Op>>& own = {}) {
  constexpr Injector<Op, Kernel<Op>> inject = {{}};
  std::vector<MutantOf<Op>> all = {
      inject.healthy("plain", "adds in fp32, in order", {}),
      inject.healthy("pairwise", "adds pairwise", {.summation = Summation::tree}),
      inject.healthy("shuffled", "adds in a different order in every run",
                     {.term_order = TermOrder::shuffled}),
      inject.healthy("truncating", "the cast truncates and saturates, as declared",
                     {.round_out = spec::Rounding::rtz}),
      inject.template healthy<DoubleSums<Op>>("double_sums", "sums in 53 bits", {}),
      inject.template injected<FirstTermLost<Op>>("first_term_lost", "sums omit their first term"),
      inject.template injected<LastTermLost<Op>>("last_term_lost", "sums omit their last term"),
      inject.template injected<SumsIn16Bits<Op>>("sums_in_16_bits", "sums are rounded to 16 bits"),
      inject.template injected<ProductsIn16Bits<Op>>("products_in_16_bits",
                                                     "products are rounded to 16 bits"),
      inject.template injected<Crashes<Op, Kernel<Op>>>("crashes", "the run ends in an exception")};
  const auto append = [&](std::vector<MutantOf<Op>> more) {
    all.insert(all.end(), more.begin(), more.end());
  };
  constexpr auto count = std::tuple_size_v<std::remove_const_t<decltype(spec::table_of<Op>)>>;
  [&]<std::size_t... k>(std::index_sequence<k...>) { (append(tensor_mutants_of<Op, k>()), ...); }
  (std::make_index_sequence<count>());
  append(inject.strides_ignored());
  append(inject.undeclared());
  all.push_back(checking<Kernel<Op>, Op>("checked", "checks its arguments", SummingPlan{}, {}));
  all.back().healthy = true;
  append(careless<Kernel<Op>, Op>(SummingPlan{}, {}));
  append(own);
  return all;
}

}  // namespace assay::mutants::bilinear
