#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "assay/conformance/inputs/random.hpp"
#include "inputs/input_profiles.hpp"
#include "judge/plain_basis.hpp"
#include "judge/tolerance.hpp"
#include "plan/breaking_calls.hpp"
#include "plan/draws.hpp"
#include "suite.hpp"
#include "toy_operator/operator.hpp"

namespace assay::conformance {

template <>
struct Suite<toy::Op> : SuiteDefaults<toy::Op> {
  using Op = toy::Op;

  /// Computes reference and tolerances of every element: the numbers are exact, they are added in
  /// any order, the product with `scale` is rounded once, then comes the cast.
  struct Basis : PlainBasis<toy::Op, spec::Layout::bnsd> {
    using PlainBasis::PlainBasis;

    std::vector<Expectation> expectations() const {
      const Op::Problem& p = case_.problem;
      const spec::HeadView gradient(inputs_.output_grad, spec::Layout::bnsd, extents(p));
      Expectation e = unmade("input_grad", extents(p), judged_of(extents(p), 0, 0));
      engine::Output output = output_of(arithmetic_, e.elements());
      output.factor = p.scale, output.roundings = 1;
      const engine::ToleranceReading<double, 0> on(output.units, {});
      for (const std::int64_t row : e.rows)
        for (std::int64_t d = 0; d < e.dim(); ++d) {
          const auto [b, n, s] = e.extents.position(row);
          engine::SumOverRows<0> sum;
          for (std::int64_t i = s; i < std::min(s + p.window, p.seq); ++i)
            sum.add({on.exact(gradient(b, n, i, d))}, {}, 1);
          output.chain = engine::chain_of(sum.element().terms, output);
          put(entries_of(e, row), d, engine::bound_of(sum.element(), output));
        }
      return {e};
    }
  };

  static std::span<const InputProfile> profiles() {
    static constexpr InputProfile all[] = {{"normal", "close to normal with deviation 1"},
                                           {"all_positive", "uniform in [0, 1)"}};
    return all;
  }
  static Op::Inputs draw(const Case<Op>& c) {
    const auto call = call_of(c.problem, c.entry_point, c.product, c.inputs, c.outputs);
    return {
        filled_tensor(call.parameters.output_grad, spec::Layout::bnsd, extents(c.problem),
                      {.seed = c.seed,
                       .which = stream_named("output_grad"),
                       .value = c.profile == "normal" ? profile::normal : profile::all_positive})};
  }
  static std::span<const FieldRange> field_ranges() {
    static constexpr FieldRange all[] = {{"batch", 1, 64},
                                         {"heads", 1, 64},
                                         {"seq", 1, 4096},
                                         {"head_dim", 1, 256},
                                         {"window", 1, 4096, "TOY-C4"},
                                         {"rows", 0, 0}};
    return all;
  }
  static double multiply_adds(const Op::Problem& p) {
    return static_cast<double>(extents(p).rows() * p.head_dim * p.window);
  }
  static void collect(const SamplingPlan& plan, CaseCollector<Op>& cases) {
    std::vector<Case<Op>> drawn;
    for (std::int64_t k = 0; k < plan.wanted_random_cases(); ++k) {
      Draws draws(plan.seed + static_cast<std::uint64_t>(k));
      Case<Op> c{.inputs = draws.one_of({spec::Striding::contiguous, spec::Striding::transposed}),
                 .profile = std::string(profiles()[static_cast<std::size_t>(k % 2)].name)};
      c.problem = {.dtype = draws.one_of({spec::DType::fp16, spec::DType::bf16}),
                   .batch = draws.integer(1, 3),
                   .heads = draws.integer(1, 3),
                   .seq = draws.edge(1, 70),
                   .head_dim = draws.integer(1, 40),
                   .window = draws.integer(1, 20),
                   .scale = 0.375};
      drawn.push_back(c);
    }
    cases.add(breaking_cases<Op>({drawn}));
    cases.add(std::move(drawn));
  }
};

}  // namespace assay::conformance
