#include "operators/nsa_compress_grad/bound.hpp"

#include <cmath>
#include <span>
#include <utility>

#include "assay/parallel/loop.hpp"
#include "judge/tolerance.hpp"
#include "operators/nsa_compress_grad/rows.hpp"

namespace assay::conformance::compress {
namespace {

using Rows = std::span<const std::int64_t>;

Call call_of(const Arithmetic& n) {
  return {.units = units_of(n),
          .stage = store_of(n.numerics.stage, n.numerics.round_stage),
          .part = store_of(n.numerics.partials, n.numerics.round_stage)};
}

/// E32, E34. Returns the error model of the sum and the cast of an element with `products`
/// products. In input_grad there are few products, and the first is added to an empty accumulator:
/// in fp32 this is exact, in fp16 the product is rounded.
engine::Output output_of(const Arithmetic& n, std::int64_t elements, double products, bool is_few) {
  engine::Output output = conformance::output_of(n, elements);
  const bool is_half = n.numerics.accumulator == spec::Accumulator::fp16;
  const double few = is_half ? products : products - 1;
  const double worst = products == 0 ? 0 : is_few ? few : engine::worst_chain(products);
  const bool averages = !is_few && !n.truncating_sums;
  output.chain = {
      .worst = worst,
      .likely = averages ? engine::probable_chain(worst, products, output.lambda) : worst,
      .lost = is_half ? worst * 0x1p-25 : 0,
      .of_squares = is_few ? 0 : products / 6,
      .of_value = is_few ? 0 : products / 9,
      .of_worst = is_few ? 1.0 / 3 : 0};
  return output;
}

/// Returns whether a number of that size may become infinite in a kernel before it is written.
bool overflows_inside(const Arithmetic& n, double size) {
  const bool is_narrow = n.numerics.stage == spec::DType::fp16 ||
                         n.numerics.partials == spec::DType::fp16 ||
                         n.numerics.accumulator == spec::Accumulator::fp16;
  return is_narrow && size >= largest_finite(spec::DType::fp16);
}

/// E33. `rows`: the rows to compute; `judged`: the total number of judged rows.
Expectation expected_input_grad(const Dense& dense, const Arithmetic& n, Rows rows,
                                std::size_t judged) {
  Expectation e = unmade("input_grad", dense.inputs, rows);
  const Op::Problem& p = dense.problem;
  const Call call = call_of(n);
  parallel::for_each(e.row_count(), [&](std::int64_t r) {
    const auto [b, head, token] = e.extents.position(rows[static_cast<std::size_t>(r)]);
    const WindowRange covering = covering_windows(p, b, token);
    std::vector<double> weights;
    std::vector<const double*> gradients;
    for (std::int64_t i = covering.first; i < covering.last; ++i) {
      weights.push_back(dense.weight(token - i * p.compress_stride, head));
      gradients.push_back(dense.output_grad(b, head, i));
    }
    const Windows windows = {.gradients = gradients.data(),
                             .weights = weights.data(),
                             .count = covering.count(),
                             .channels = e.dim()};
    const auto products = static_cast<double>(windows.count);
    const auto output = output_of(n, static_cast<std::int64_t>(judged) * e.dim(), products, true);
    engine::read_with(engine::Instructions::fastest, [&](auto compiled) {
      const double largest =
          read_input_row(compiled, call, windows, output, products * n.phi, entries_of(e, r));
      e.exempt[static_cast<std::size_t>(r)] = overflows_inside(n, largest) ? 1 : 0;
    });
  });
  return e;
}

/// E33.
Expectation expected_weight_grad(const Dense& dense, const Arithmetic& n, Rows rows) {
  Expectation e = unmade("weight_grad", dense.weights, rows);
  const Op::Problem& p = dense.problem;
  const Call call = call_of(n);
  const auto products = static_cast<double>(all_windows(p) * p.head_dim);
  const auto output = output_of(n, e.elements(), products, false);
  parallel::for_each(e.row_count(), [&](std::int64_t r) {
    const spec::RowPosition row = e.extents.position(rows[static_cast<std::size_t>(r)]);
    std::vector<const double*> gradients, inputs;
    for (std::int64_t b = 0; b < p.batch; ++b)
      for (std::int64_t i = 0; i < dense.outputs.length(b); ++i) {
        gradients.push_back(dense.output_grad(b, row.n, i));
        inputs.push_back(dense.input(b, row.n, i * p.compress_stride + row.s));
      }
    const Windows windows = {.gradients = gradients.data(),
                             .inputs = inputs.data(),
                             .count = std::ssize(inputs),
                             .channels = p.head_dim};
    engine::read_with(engine::Instructions::fastest, [&](auto compiled) {
      const engine::Element element = read_weight(compiled, call, windows);
      auto bound = engine::bound_of(element, output, products * n.phi);
      bound.radius = engine::sum_radius(element);
      put(entries_of(e, r), 0, bound);
      e.exempt[static_cast<std::size_t>(r)] = overflows_inside(n, bound.largest) ? 1 : 0;
    });
  });
  return e;
}

}  // namespace

std::vector<Expectation> expectations(const Dense& dense, const Arithmetic& arithmetic,
                                      const JudgedRows& judged) {
  std::vector<Expectation> both;
  both.push_back(expected_input_grad(dense, arithmetic, judged.input, judged.input.size()));
  both.push_back(expected_weight_grad(dense, arithmetic, judged.weight));
  return both;
}

std::vector<Expectation> expectations_in_parts(const Dense& dense, const Arithmetic& arithmetic,
                                               const JudgedRows& judged) {
  const std::size_t count = judged.input.size();
  if (std::ssize(judged.input) * dense.inputs.dim <= 4 * elements_of_part)
    return expectations(dense, arithmetic, judged);
  Expectation input{.name = "input_grad", .extents = dense.inputs, .rows = judged.input};
  input.part = [&dense, &arithmetic, count](Rows rows) {
    return expected_input_grad(dense, arithmetic, rows, count);
  };
  return {std::move(input), expected_weight_grad(dense, arithmetic, judged.weight)};
}

}  // namespace assay::conformance::compress
