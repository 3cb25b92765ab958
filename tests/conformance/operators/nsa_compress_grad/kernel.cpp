#include "kernel.hpp"

#include <algorithm>
#include <cmath>

#include "assay/spec/at.hpp"

namespace assay::conformance::testing {
namespace {

using Problem = CompressOp::Problem;

using spec::at;

std::vector<float> rows_of(const spec::Tensor& tensor, const spec::Extents& e) {
  std::vector<float> values;
  const spec::HeadView view(tensor, spec::Layout::tnd, e);
  for (std::int64_t row = 0; row < e.rows(); ++row) {
    const auto [b, n, s] = e.position(row);
    for (std::int64_t d = 0; d < e.dim; ++d) values.push_back(static_cast<float>(view(b, n, s, d)));
  }
  return values;
}

/// The products that are added to one output element, one list per window.
using Products = std::vector<std::vector<float>>;

float chain(const std::vector<float>& terms, const CompressPlan& plan) {
  float sum = 0;
  for (const float term : terms) sum = plan.add_to(sum + term);
  return sum;
}

float pairwise(std::vector<float> terms) {
  for (; terms.size() > 1; terms.resize((terms.size() + 1) / 2))
    for (std::size_t k = 0; k < terms.size() / 2 + terms.size() % 2; ++k)
      terms[k] = 2 * k + 1 < terms.size() ? terms[2 * k] + terms[2 * k + 1] : terms[2 * k];
  return terms.empty() ? 0 : terms[0];
}

float sum_of(const Products& products, const CompressPlan& plan) {
  std::vector<float> terms, windows;
  for (const auto& of_window : products) {
    std::vector<float> staged;
    for (const float product : of_window) staged.push_back(plan.stage(product));
    windows.push_back(plan.contribution(chain(staged, plan)));
    terms.insert(terms.end(), staged.begin(), staged.end());
  }
  switch (plan.order) {
    case SumOrder::windows:
      return chain(windows, plan);
    case SumOrder::pairwise:
      return pairwise(terms);
    case SumOrder::shuffled: {
      const Random random = stream(plan.seed, Stream::sampling);
      for (std::size_t k = terms.size(); k > 1; --k)
        std::swap(terms[k - 1], terms[random.bits(k) % k]);
      return chain(terms, plan);
    }
    case SumOrder::ascending:
      break;
  }
  return chain(terms, plan);
}

/// All operands of the kernel, and the positions of the windows.
struct Kernel {
  Kernel(const Problem& problem, const CompressOp::Inputs& inputs, const CompressPlan& how)
      : p(problem),
        plan(how),
        of_input(input_extents(problem)),
        of_windows(output_extents(problem)),
        gradient(rows_of(inputs.output_grad, of_windows)),
        input(rows_of(inputs.input, of_input)) {
    for (const std::int64_t e : spec::viewed_elements(inputs.weight))
      weight.push_back(static_cast<float>(inputs.weight.load(e)));
  }

  std::int64_t start(std::int64_t b, std::int64_t i) const {
    return plan.start ? plan.start(p, b, i) : i * p.compress_stride;
  }
  bool is_skipped(std::int64_t b, std::int64_t i) const {
    return of_windows.start(b) + i == plan.skipped_window;
  }

  float input_grad(std::int64_t b, std::int64_t n, std::int64_t token, std::int64_t c) const {
    Products products;
    for (std::int64_t i = 0; i < of_windows.length(b); ++i) {
      const std::int64_t w = token - start(b, i);
      if (w < 0 || w >= p.compress_block_size || is_skipped(b, i)) continue;
      if (!plan.overlap) products.clear();
      products.push_back(
          {weight[at(w * p.heads + n)] * gradient[at(of_windows.row(b, n, i) * p.head_dim + c)]});
    }
    return plan.cast(sum_of(products, plan));
  }

  float weight_grad(std::int64_t w, std::int64_t n) const {
    Products products;
    const std::int64_t channels = plan.weight_channels > 0 ? plan.weight_channels : p.head_dim;
    for (std::int64_t b = 0; b < p.batch; ++b)
      for (std::int64_t i = 0; i < of_windows.length(b); ++i) {
        const std::int64_t token = start(b, i) + w;
        if (token < 0 || token >= p.length(b) || is_skipped(b, i)) continue;
        auto& terms = products.emplace_back();
        for (std::int64_t c = 0; c < channels; ++c)
          terms.push_back(gradient[at(of_windows.row(b, n, i) * p.head_dim + c)] *
                          input[at(of_input.row(b, n, token) * p.head_dim + c)]);
      }
    return plan.cast(static_cast<float>(plan.weight_factor) * sum_of(products, plan));
  }

  const Problem& p;
  const CompressPlan& plan;
  spec::Extents of_input, of_windows;
  std::vector<float> gradient, input, weight;
};

float narrowed(float x, spec::FloatFormat format) {
  return static_cast<float>(spec::round_to(static_cast<double>(x), format));
}

/// Rounds to the nearest number of the format; ties are rounded away from zero.
float away(float x, spec::FloatFormat format) {
  if (x == 0 || !std::isfinite(x)) return x;
  const int exponent = std::max(std::ilogb(x), format.min_exponent) - format.significand_bits + 1;
  const double steps = std::ldexp(std::abs(static_cast<double>(x)), -exponent);
  return static_cast<float>(std::copysign(std::ldexp(std::floor(steps + 0.5), exponent), x));
}

}  // namespace

CompressOp::Inputs compress_inputs(const Problem& p, std::uint64_t seed) {
  const auto filled = [&](const spec::Shape& shape, Stream which) {
    spec::Tensor tensor = spec::contiguous_tensor(p.dtype, shape);
    const Random random = stream(seed, which);
    for (std::int64_t e = 0; e < spec::element_count(shape); ++e)
      tensor.store(e, random.normal(static_cast<std::uint64_t>(e)));
    return tensor;
  };
  return {.output_grad = filled(shape_of(spec::Layout::tnd, output_extents(p)), Stream::dy),
          .input = filled(shape_of(spec::Layout::tnd, input_extents(p)), Stream::input),
          .weight = filled(weight_shape(p), Stream::weight)};
}

void CompressKernel::check(const spec::Call<CompressOp>& call) const {
  for (const auto* row : spec::violations(CompressOp::requirements(), call))
    if (row->binds(call.entry_point, {}))
      throw spec::Rejected(row->status.code, std::string(row->id));
}

void CompressKernel::run(const Problem& p, const CompressOp::Inputs& inputs,
                         CompressOp::Outputs& outputs) {
  CompressPlan plan = plan_;
  // `half_cast` is a separate rounding function for casts to fp16.
  if (p.dtype == spec::DType::fp16) plan.cast = plan_.half_cast;
  const CompressGradients g = run_kernel(p, inputs, plan);
  const spec::Extents e = input_extents(p);
  const spec::HeadIndex index(outputs.input_grad, spec::Layout::tnd, e);
  for (std::int64_t row = 0; row < e.rows(); ++row) {
    const auto [b, n, s] = e.position(row);
    for (std::int64_t c = 0; c < e.dim; ++c)
      outputs.input_grad.store(index(b, n, s, c),
                               static_cast<double>(g.input_grad[at(row * e.dim + c)]));
  }
  const std::vector<std::int64_t> elements = spec::viewed_elements(outputs.weight_grad);
  for (std::int64_t w = 0; w < p.compress_block_size; ++w)
    for (std::int64_t n = 0; n < p.heads; ++n)
      outputs.weight_grad.store(
          elements[at(w * p.heads + n)],
          static_cast<double>(g.weight_grad[at(n * p.compress_block_size + w)]));
}

CompressGradients run_kernel(const Problem& p, const CompressOp::Inputs& inputs,
                             const CompressPlan& plan) {
  const Kernel kernel(p, inputs, plan);
  CompressGradients result;
  for (std::int64_t row = 0; row < kernel.of_input.rows(); ++row) {
    const auto [b, n, s] = kernel.of_input.position(row);
    for (std::int64_t c = 0; c < p.head_dim; ++c)
      result.input_grad.push_back(kernel.input_grad(b, n, s, c));
  }
  for (std::int64_t n = 0; n < p.heads; ++n)
    for (std::int64_t w = 0; w < p.compress_block_size; ++w)
      result.weight_grad.push_back(kernel.weight_grad(w, n));
  return result;
}

CompressPlan healthy_plan(SumOrder order) {
  return {.order = order, .cast = to_bf16, .half_cast = to_fp16};
}

float to_bf16(float x) { return narrowed(x, spec::bf16_format); }
float to_fp16(float x) { return narrowed(x, spec::fp16_format); }
float to_bf16_away(float x) { return away(x, spec::bf16_format); }
float to_fp16_away(float x) { return away(x, spec::fp16_format); }
float to_bf16_truncated(float x) {
  const float nearest = to_bf16(x);
  return std::abs(nearest) <= std::abs(x)
             ? nearest
             : static_cast<float>(static_cast<double>(nearest) -
                                  std::ldexp(std::copysign(1.0, x), std::ilogb(x) - 7));
}

}  // namespace assay::conformance::testing
