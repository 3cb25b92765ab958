#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "assay/conformance/inputs/random.hpp"
#include "assay/conformance/operators/nsa_compress_grad.hpp"
#include "assay/parallel/loop.hpp"
#include "assay/spec/at.hpp"
#include "inputs/input_profiles.hpp"
#include "judge/decide.hpp"
#include "operators/nsa_compress_grad/dense.hpp"
#include "operators/nsa_compress_grad/exactness.hpp"

namespace assay::conformance {
namespace compress {
namespace {

using Integers = std::vector<std::int32_t>;  // rows in the order of Extents::row

constexpr int most_attempts = 64;

bool is_narrow(spec::DType type) { return type == spec::DType::fp16 || type == spec::DType::bf16; }
using spec::at;

/// The ranges of a case's numbers: integers up to an amplitude, times a power of two.
struct Amplitudes {
  std::int64_t gradient, input, weight;  ///< amplitudes of output_grad, input and weight
  std::uint64_t one_in;  ///< one in this many elements of output_grad may differ from zero
  int gradient_exponent, input_exponent, weight_exponent;
};

/// Returns whether a kernel holds any number in fp16, whose range is small.
bool has_half(const spec::Numerics& numerics, spec::DType io) {
  constexpr spec::DType half = spec::DType::fp16;
  return io == half || numerics.stage == half || numerics.partials == half ||
         numerics.accumulator == spec::Accumulator::fp16;
}

/// Track exact: products fit into every type in which a kernel stages them. Track exact_staged:
/// products have more bits than the staging type, so that staging rounds them.
Amplitudes first_plan(const Case<Op>& c, const spec::Numerics& numerics, const Exactness& exact) {
  const int io_bits = spec::format_of(c.problem.dtype).significand_bits;
  Amplitudes plan{};
  if (c.track == Track::exact) {
    plan.gradient = 3;
    plan.input = plan.weight = ((std::int64_t{1} << exact.product) - 1) / plan.gradient;
  } else {
    plan.gradient = 63;
    plan.input = plan.weight = (std::int64_t{1} << (io_bits - 1)) - 1;
  }
  plan.one_in = 2;
  // In fp16 a sum of 2^24 units must be below the largest finite number.
  const Random random = stream(c.seed, Stream::exact_case);
  const bool half = has_half(numerics, c.problem.dtype);
  const auto exponent = [&](std::uint64_t index) {
    return static_cast<int>(half ? random.integer(index, -6, -5) : random.integer(index, -6, 6));
  };
  plan.gradient_exponent = exponent(0);
  plan.input_exponent = exponent(1);
  plan.weight_exponent = exponent(2);
  return plan;
}

struct Drawn {
  Integers gradient, input, weight;
};

Integers drawn_rows(const spec::Extents& e, std::int64_t amplitude, const DrawnPlaces& places) {
  Integers values(at(e.rows() * e.dim));
  for (std::int64_t row = 0; row < e.rows(); ++row) {
    const auto [b, n, s] = e.position(row);
    const Random random = places.row(b, n, s);
    for (std::int64_t d = 0; d < e.dim; ++d)
      values[at(row * e.dim + d)] = static_cast<std::int32_t>(
          random.integer(static_cast<std::uint64_t>(d), -amplitude, amplitude));
  }
  return values;
}

/// Keeps about one in `one_in` elements and zeroes the others; then sets one element of each head
/// to 1 or -1.
void thin(Integers& values, const spec::Extents& e, std::uint64_t one_in,
          const DrawnPlaces& places) {
  for (std::int64_t row = 0; row < e.rows(); ++row) {
    const auto [b, n, s] = e.position(row);
    const Random random = places.row(b, n, s);
    for (std::int64_t d = 0; d < e.dim; ++d)
      if (!chosen(random, d, one_in)) values[at(row * e.dim + d)] = 0;
  }
  for (std::int64_t n = 0; n < e.heads; ++n) {
    std::int64_t b = 0;
    while (e.length(b) == 0) ++b;
    const std::int64_t row = e.row(b, n, e.length(b) / 2);
    values[at(row * e.dim + n % e.dim)] = n % 2 == 0 ? 1 : -1;
  }
}

Drawn draw(const Case<Op>& c, const Amplitudes& plan) {
  const auto drawn = [&](const spec::Extents& e, std::int64_t amplitude, Stream which) {
    return drawn_rows(e, amplitude, DrawnPlaces(c.seed, which));
  };
  const spec::Extents windows = output_extents(c.problem);
  Drawn all{.gradient = drawn(windows, plan.gradient, Stream::dy),
            .input = drawn(input_extents(c.problem), plan.input, Stream::input),
            .weight = drawn(weight_extents(c.problem), plan.weight, Stream::weight)};
  thin(all.gradient, windows, plan.one_in, DrawnPlaces(c.seed, Stream::exact_case));
  return all;
}

/// Rounds a product to the staging type. Products and results are integers, in units of 2^exponent.
class StagedProduct {
 public:
  StagedProduct(const spec::Numerics& numerics, int exponent)
      : numerics_(numerics), exponent_(exponent), is_narrow_(is_narrow(numerics.stage)) {
    if (is_narrow_) limit_ = std::int64_t{1} << spec::format_of(numerics.stage).significand_bits;
  }

  std::int64_t operator()(std::int64_t product) const {
    if (!is_narrow_ || std::abs(product) <= limit_) return product;
    const std::uint32_t bits = round_dyadic({product, exponent_}, numerics_.stage,
                                            numerics_.round_stage, numerics_.overflow);
    const double rounded = spec::from_bits(bits, spec::format_of(numerics_.stage));
    return static_cast<std::int64_t>(std::ldexp(rounded, -exponent_));
  }

 private:
  const spec::Numerics& numerics_;
  int exponent_;
  bool is_narrow_;
  std::int64_t limit_ = 0;
};

/// The exact sums of one output, and the largest sum of magnitudes, which bounds every order of
/// summation. The exact sums are omitted if only the inputs are needed.
struct Sums {
  std::vector<std::int64_t> values;
  std::int64_t largest = 0;
};

/// Computes the sums. element(row, channel, add) calls add(product) for every product of the
/// element.
template <class Element>
Sums summed(const spec::Extents& e, const std::vector<std::int64_t>& rows,
            const StagedProduct& staged, ExactPart part, Element&& element) {
  Sums sums;
  if (part == ExactPart::all) sums.values.resize(rows.size() * at(e.dim));
  std::vector<std::int64_t> largest(rows.size(), 0);
  parallel::for_each(static_cast<std::int64_t>(rows.size()), [&](std::int64_t r) {
    const spec::RowPosition row = e.position(rows[at(r)]);
    for (std::int64_t d = 0; d < e.dim; ++d) {
      std::int64_t sum = 0, magnitude = 0;
      element(row, d, [&](std::int64_t product) {
        const std::int64_t value = staged(product);
        sum += value;
        magnitude += std::abs(value);
      });
      if (part == ExactPart::all) sums.values[at(r * e.dim + d)] = sum;
      largest[at(r)] = std::max(largest[at(r)], magnitude);
    }
  });
  for (const std::int64_t magnitude : largest) sums.largest = std::max(sums.largest, magnitude);
  return sums;
}

/// Computes the exact gradients of the problem from the drawn integers.
class Gradients {
 public:
  Gradients(const Op::Problem& p, const Drawn& drawn, ExactPart part)
      : p_(p),
        drawn_(drawn),
        part_(part),
        inputs_(input_extents(p)),
        windows_(output_extents(p)),
        weights_(weight_extents(p)) {}

  Sums input_grad(const std::vector<std::int64_t>& rows, const StagedProduct& staged) const {
    return summed(inputs_, rows, staged, part_,
                  [&](const spec::RowPosition& row, std::int64_t d, auto&& add) {
                    const WindowRange covering = covering_windows(p_, row.b, row.s);
                    for (std::int64_t i = covering.first; i < covering.last; ++i) {
                      const std::int64_t w = row.s - i * p_.compress_stride;
                      add(std::int64_t{drawn_.weight[at(weights_.row(0, row.n, w))]} *
                          drawn_.gradient[at(windows_.row(row.b, row.n, i) * windows_.dim + d)]);
                    }
                  });
  }

  Sums weight_grad(const std::vector<std::int64_t>& rows, const StagedProduct& staged) const {
    return summed(
        weights_, rows, staged, part_, [&](const spec::RowPosition& row, std::int64_t, auto&& add) {
          for (std::int64_t b = 0; b < p_.batch; ++b)
            for (std::int64_t i = 0; i < windows_.length(b); ++i) {
              const std::int64_t token = i * p_.compress_stride + row.s;
              const auto* gradient = &drawn_.gradient[at(windows_.row(b, row.n, i) * windows_.dim)];
              const auto* input = &drawn_.input[at(inputs_.row(b, row.n, token) * inputs_.dim)];
              for (std::int64_t c = 0; c < windows_.dim; ++c)
                add(std::int64_t{gradient[c]} * input[c]);
            }
        });
  }

 private:
  const Op::Problem& p_;
  const Drawn& drawn_;
  ExactPart part_;
  spec::Extents inputs_, windows_, weights_;
};

/// Makes the integers smaller, or fewer of them nonzero. On track exact the integers become smaller
/// first; on track exact_staged they must stay large, so fewer are nonzero.
void reduce(Amplitudes& plan, std::int64_t Amplitudes::*amplitude, Track track) {
  if (track == Track::exact && plan.*amplitude > 3)
    plan.*amplitude /= 2;
  else
    plan.one_in *= 2;
}

spec::Tensor tensor_of(const spec::Parameter& parameter, const spec::HeadIndex& index,
                       const Integers& values, int exponent) {
  spec::Tensor tensor = guarded_tensor(parameter);
  const spec::Extents& e = index.extents();
  for (std::int64_t row = 0; row < e.rows(); ++row) {
    const auto [b, n, s] = e.position(row);
    for (std::int64_t d = 0; d < e.dim; ++d)
      tensor.store(index(b, n, s, d), std::ldexp(values[at(row * e.dim + d)], exponent));
  }
  return tensor;
}

Op::Inputs tensors_of(const Case<Op>& c, const Amplitudes& plan, const Drawn& drawn) {
  const Op::Problem& p = c.problem;
  const auto t = spec::call_of(p, c.entry_point, c.product, c.inputs, c.outputs).parameters;
  const auto packed = [](const spec::Parameter& parameter, const spec::Extents& extents) {
    return spec::HeadIndex(guarded_tensor(parameter), spec::Layout::tnd, extents);
  };
  return {.output_grad = tensor_of(t.output_grad, packed(t.output_grad, output_extents(p)),
                                   drawn.gradient, plan.gradient_exponent),
          .input = tensor_of(t.input, packed(t.input, input_extents(p)), drawn.input,
                             plan.input_exponent),
          .weight = tensor_of(t.weight, weight_index(p, guarded_tensor(t.weight)), drawn.weight,
                              plan.weight_exponent)};
}

std::vector<Dyadic> exact_values(const Sums& sums, int exponent) {
  std::vector<Dyadic> values;
  values.reserve(sums.values.size());
  for (const std::int64_t sum : sums.values) values.push_back({sum, exponent});
  return values;
}

void require_known_staging(const Case<Op>& c, const spec::Numerics& numerics) {
  if (c.track != Track::exact_staged) return;
  const spec::Rounding round = numerics.round_stage;
  const bool is_known =
      round == spec::Rounding::rne || round == spec::Rounding::rna || round == spec::Rounding::rtz;
  if (is_narrow(numerics.stage) && !is_known)
    throw NoExactCase("the rounding of staged products is unknown: " +
                      std::string(to_string(round)));
  if (is_narrow(numerics.partials))
    throw NoExactCase("partial results are rounded, and their terms are unknown");
}

}  // namespace
}  // namespace compress

CompressExactCase Suite<spec::NsaCompressGrad>::exact(const Case<Op>& c,
                                                      const spec::Numerics& numerics,
                                                      ExactPart part) {
  using namespace compress;
  require_known_staging(c, numerics);
  const Op::Problem& p = c.problem;
  const Exactness exact = exactness(numerics, p.dtype);
  const std::int64_t limit = std::int64_t{1} << exact.sum;
  CompressExactCase exact_case;
  exact_case.input_rows = judged_of(input_extents(p), c.rows, c.seed);
  exact_case.weight_rows = judged_of(weight_extents(p), c.rows, c.seed + 1);
  Amplitudes plan = first_plan(c, numerics, exact);
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    const Drawn drawn = compress::draw(c, plan);
    const Gradients gradients(p, drawn, part);
    const int of_input = plan.weight_exponent + plan.gradient_exponent;
    const Sums input =
        gradients.input_grad(exact_case.input_rows, StagedProduct(numerics, of_input));
    const int of_weight = plan.input_exponent + plan.gradient_exponent;
    const Sums weight =
        gradients.weight_grad(exact_case.weight_rows, StagedProduct(numerics, of_weight));
    if (input.largest <= limit && weight.largest <= limit) {
      exact_case.inputs = tensors_of(c, plan, drawn);
      exact_case.input_grad = exact_values(input, of_input);
      exact_case.weight_grad = exact_values(weight, of_weight);
      return exact_case;
    }
    if (input.largest > limit) reduce(plan, &Amplitudes::weight, c.track);
    if (weight.largest > limit) reduce(plan, &Amplitudes::input, c.track);
  }
  throw NoExactCase("a sum needs more than " + std::to_string(exact.sum) + " bits");
}

std::vector<ExactTensor> Suite<spec::NsaCompressGrad>::exact_tensors(
    const CompressExactCase& exact_case, const spec::NsaCompressGrad::Problem& p) {
  return {{"input_grad", exact_case.input_grad, exact_case.input_rows, p.head_dim},
          {"weight_grad", exact_case.weight_grad, exact_case.weight_rows, 1}};
}

void Suite<spec::NsaCompressGrad>::compare_exact(const CompressExactCase& exact_case,
                                                 const spec::NsaCompressGrad::Problem& p,
                                                 const spec::NsaCompressGrad::Outputs& outputs,
                                                 const spec::Numerics& numerics,
                                                 CaseReport& report) {
  const auto exact = [](const ExactTensor& tensor, const spec::Tensor& output,
                        const spec::HeadIndex& index) {
    return ExactOutput{.tensor = tensor,
                       .output = &output,
                       .extents = index.extents(),
                       .element = [index](const spec::RowPosition& row,
                                          std::int64_t d) { return index(row.b, row.n, row.s, d); },
                       .floor = [](const spec::RowPosition&, std::int64_t) { return 0.0; }};
  };
  const auto tensors = exact_tensors(exact_case, p);
  const spec::HeadIndex inputs(outputs.input_grad, spec::Layout::tnd, input_extents(p));
  judge_exact(
      {exact(tensors[0], outputs.input_grad, inputs),
       exact(tensors[1], outputs.weight_grad, compress::weight_index(p, outputs.weight_grad))},
      numerics, report);
}

}  // namespace assay::conformance
