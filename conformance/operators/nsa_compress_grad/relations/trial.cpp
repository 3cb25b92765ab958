#include "operators/nsa_compress_grad/relations/trial.hpp"

#include "assay/conformance/inputs/inputs.hpp"
#include "inputs/packed_rows.hpp"
#include "operators/nsa_compress_grad/dense.hpp"

namespace assay::conformance::compress {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// Rows of `to` copied from those of `values`, which `own` numbers.
std::vector<double> gathered(const std::vector<double>& values, const spec::Extents& own,
                             const spec::Extents& to, const Origin& origin) {
  std::vector<double> rows(at(to.rows() * to.dim), 0.0);
  for (std::int64_t row = 0; row < to.rows(); ++row) {
    const auto from = origin(to.position(row));
    if (!from) continue;
    const auto first = values.begin() + own.row(from->b, from->n, from->s) * to.dim;
    std::copy_n(first, to.dim, rows.begin() + row * to.dim);
  }
  return rows;
}

}  // namespace

Trial trial_of(const Op::Problem& problem, const Op::Inputs& inputs) {
  return {.problem = problem, .rows = reference::operands_of<double>(problem, inputs)};
}

Op::Inputs inputs_of(const Trial& t) {
  const Op::Problem& p = t.problem;
  const auto call = spec::call_of(p, {}, spec::Product::a2, t.inputs, t.outputs).parameters;
  Op::Inputs inputs{
      .output_grad = packed_tensor(call.output_grad, output_extents(p), t.rows.output_grad),
      .input = packed_tensor(call.input, input_extents(p), t.rows.input),
      .weight = guarded_tensor(call.weight)};
  std::size_t next = 0;
  for (const std::int64_t element : spec::viewed_elements(inputs.weight))
    inputs.weight.store(element, t.rows.weight[next++]);
  return inputs;
}

bool is_same_run(const Trial& a, const Trial& b) {
  return a.problem == b.problem && a.inputs == b.inputs && a.outputs == b.outputs &&
         a.rows.output_grad == b.rows.output_grad && a.rows.input == b.rows.input &&
         a.rows.weight == b.rows.weight;
}

Gradients gradients_of(const Op::Problem& p, const Op::Outputs& outputs) {
  Gradients g = zero_gradients(p);
  const spec::Extents inputs = input_extents(p), weights = weight_extents(p);
  const spec::HeadView view(outputs.input_grad, spec::Layout::tnd, inputs);
  for (std::int64_t row = 0; row < inputs.rows(); ++row) {
    const auto [b, n, s] = inputs.position(row);
    view.read_row(b, n, s, {g.input_grad.data() + row * inputs.dim, at(inputs.dim)});
  }
  const spec::HeadIndex index = weight_index(p, outputs.weight_grad);
  for (std::int64_t row = 0; row < weights.rows(); ++row) {
    const auto [b, n, w] = weights.position(row);
    g.weight_grad[at(row)] = outputs.weight_grad.load(index(b, n, w, 0));
  }
  return g;
}

Gradients zero_gradients(const Op::Problem& p) {
  Gradients g;
  for (const GradientTensor& tensor : gradient_tensors) {
    const spec::Extents e = tensor.extents(p);
    (g.*tensor.member).assign(at(e.rows() * e.dim), 0.0);
  }
  return g;
}

Trial rearranged(const Trial& base, const Op::Problem& p, const Origins& origins) {
  Trial moved{.problem = p, .rows = {}, .inputs = base.inputs, .outputs = base.outputs};
  moved.rows.input =
      gathered(base.rows.input, input_extents(base.problem), input_extents(p), origins.input);
  moved.rows.output_grad = gathered(base.rows.output_grad, output_extents(base.problem),
                                    output_extents(p), origins.window);
  for (std::int64_t w = 0; w < p.compress_block_size; ++w)
    for (std::int64_t n = 0; n < p.heads; ++n)
      moved.rows.weight.push_back(base.rows.weight[at(w * base.problem.heads + origins.head(n))]);
  return moved;
}

void add_back(Gradients& sum, const Op::Problem& base, const Gradients& part, const Op::Problem& p,
              const Origins& origins) {
  const spec::Extents own = input_extents(base), of_part = input_extents(p);
  for (std::int64_t row = 0; row < of_part.rows(); ++row) {
    const auto from = origins.input(of_part.position(row));
    if (!from) continue;
    const std::int64_t to = own.row(from->b, from->n, from->s);
    for (std::int64_t d = 0; d < own.dim; ++d)
      sum.input_grad[at(to * own.dim + d)] += part.input_grad[at(row * own.dim + d)];
  }
  const spec::Extents weights = weight_extents(base), of_weights = weight_extents(p);
  for (std::int64_t row = 0; row < of_weights.rows(); ++row) {
    const auto [b, n, w] = of_weights.position(row);
    sum.weight_grad[at(weights.row(b, origins.head(n), w))] += part.weight_grad[at(row)];
  }
}

}  // namespace assay::conformance::compress
