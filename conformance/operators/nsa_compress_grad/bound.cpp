#include "operators/nsa_compress_grad/bound.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "assay/conformance/judge/vector_loops.hpp"
#include "assay/parallel/loop.hpp"
#include "judge/tolerance.hpp"

namespace assay::conformance::compress {
namespace {

using Rows = std::span<const std::int64_t>;

bool is_narrow(spec::DType type) { return type == spec::DType::fp16 || type == spec::DType::bf16; }

/// Sums over the products of which one element is made. h: largest error of a declared rounding.
struct Sums {
  double count = 0;  ///< of the products
  double value = 0, absolute = 0, squares = 0;
  double rounded = 0,
         rounded_squares = 0;  ///< sums of h and h^2, of products and of windows' contributions
  double random_squares = 0;   ///< the part of rounded_squares whose errors are not known
  double drift = 0;            ///< what rounding the products is known to add
};

/// What rounding products and contributions of windows makes of the sums.
class Staging {
 public:
  explicit Staging(const Arithmetic& arithmetic)
      : arithmetic_(arithmetic),
        of_partial_(arithmetic.numerics.partials, arithmetic.numerics.round_stage) {}

  bool rounds_products() const { return is_narrow(arithmetic_.numerics.stage); }
  bool rounds_contributions() const { return is_narrow(arithmetic_.numerics.partials); }

  /// Relative error of a sum of so many products.
  double accumulated(std::int64_t products) const {
    return static_cast<double>(products) * arithmetic_.u_a;
  }
  /// E31. Returns h.
  double product(Sums& sums, double product) const {
    const double h = arithmetic_.stage_error(std::abs(product));
    sums.drift += arithmetic_.stage_drift(product, 0);
    sums.rounded += h;
    sums.rounded_squares += h * h;
    return h;
  }
  /// `absolute`: up to what the contribution of a window may have grown.
  void contribution(Sums& sums, double value, double absolute) const {
    sums.rounded += of_partial_(absolute);
    const double h = of_partial_(std::abs(value));
    sums.rounded_squares += h * h;
    sums.random_squares += h * h;
  }

 private:
  const Arithmetic& arithmetic_;
  RoundingError of_partial_;
};

/// How a tensor's elements become sums of products.
struct Summation {
  double additions;  ///< roundings of a chain, at most
  bool is_long;      ///< more than a few: their errors average out
};

/// Writes reference and tolerances of elements of a tensor, `judged` of which share the false
/// alarms.
class Writer {
 public:
  Writer(const Arithmetic& arithmetic, Expectation& expectation, std::int64_t judged)
      : a_(arithmetic), e_(expectation), lambda_(azuma_factor(judged)) {}

  /// E33.
  void write(std::int64_t row, std::int64_t channel, const Sums& s, const Summation& summation) {
    const auto k = static_cast<std::size_t>(row * e_.dim() + channel);
    const double core_det = s.rounded;
    const double core_prob = probable_error(s.drift, lambda_, s.rounded_squares, 0.0);
    const double core = core_error(core_det, core_prob, a_.mean_free);
    const double magnitude = a_.u_a * (s.absolute + core_det);
    const double acc_det = summation.additions * (magnitude + accumulator_step());
    const double averaged = probable_chain(summation.additions, s.count, lambda_);
    const double acc = summation.is_long && !a_.truncating_sums
                           ? averaged * magnitude + summation.additions * accumulator_step()
                           : acc_det;
    const double residue = s.count * a_.phi, ref = std::abs(s.value);
    e_.value[k] = s.value;
    e_.radius[k] = (s.count + 4) * 0x1p-53 * s.absolute;
    e_.tau[k] = tolerance_of(a_, ref, core, acc, residue);
    e_.tau_det[k] = tolerance_of(a_, ref, core_det, acc_det, residue);
    e_.floor[k] = residue;
    e_.drift[k] = s.drift;
    e_.core[k] = static_cast<float>(core);
    e_.accumulation[k] = static_cast<float>(acc);
    e_.extra[k] = static_cast<float>(residue);
    e_.sigma[k] = std::sqrt(deviation_squared(s, summation, acc_det));
    if (is_narrow_inside() && s.absolute + core_det + acc_det >= largest_finite(spec::DType::fp16))
      e_.exempt[static_cast<std::size_t>(row)] = 1;
  }

 private:
  /// Half the distance of the smallest numbers of the accumulator: additions of fp32 are exact down
  /// there.
  double accumulator_step() const {
    return a_.numerics.accumulator == spec::Accumulator::fp16 ? 0x1p-25 : 0;
  }
  bool is_narrow_inside() const {
    return a_.numerics.stage == spec::DType::fp16 || a_.numerics.partials == spec::DType::fp16 ||
           a_.numerics.accumulator == spec::Accumulator::fp16;
  }
  /// E34.
  double deviation_squared(const Sums& s, const Summation& summation, double acc_det) const {
    const double out = a_.out_error(std::abs(s.value));
    const double chain = a_.u_a * a_.u_a * s.count * (s.squares / 6 + s.value * s.value / 9);
    const double sums = summation.is_long ? chain : acc_det * acc_det / 3;
    return (out * out + s.random_squares) / 3 + sums;
  }

  const Arithmetic& a_;
  Expectation& e_;
  double lambda_;
};

/// All elements round on their own: a row has as many degrees of freedom as elements.
Expectation blank(const char* name, const spec::Extents& extents, Rows rows) {
  Expectation e{.name = name, .extents = extents, .rows = {rows.begin(), rows.end()}};
  e.make_room(static_cast<std::int64_t>(rows.size()));
  std::ranges::fill(e.share, 1 / static_cast<double>(e.dim()));
  return e;
}

/// E32. The first product meets an empty accumulator: in fp32 that is exact, in fp16 the product is
/// rounded.
double additions_of(std::int64_t products, const Arithmetic& arithmetic) {
  const bool is_exact = arithmetic.numerics.accumulator != spec::Accumulator::fp16;
  return static_cast<double>(products > 0 && is_exact ? products - 1 : products);
}

/// `rows` of the `judged` ones.
Expectation expected_input_grad(const Dense& dense, const Arithmetic& arithmetic, Rows rows,
                                std::size_t judged) {
  Expectation e = blank("input_grad", dense.inputs, rows);
  const Op::Problem& p = dense.problem;
  const Staging staging(arithmetic);
  Writer writer(arithmetic, e, static_cast<std::int64_t>(judged) * e.dim());
  parallel::for_each(e.row_count(), [&](std::int64_t r) {
    const auto [b, n, token] = e.extents.position(rows[static_cast<std::size_t>(r)]);
    const WindowRange windows = covering_windows(p, b, token);
    std::vector<Sums> sums(static_cast<std::size_t>(e.dim()));
    for (std::int64_t i = windows.first; i < windows.last; ++i) {
      const double weight = dense.weight(token - i * p.compress_stride, n);
      const double* gradient = dense.output_grad(b, n, i);
      for (std::size_t c = 0; c < sums.size(); ++c) {
        const double product = weight * gradient[c];
        Sums& s = sums[c];
        ++s.count;
        s.value += product;
        s.absolute += std::abs(product);
        s.squares += product * product;
        const double h = staging.rounds_products() ? staging.product(s, product) : 0;
        if (staging.rounds_contributions()) staging.contribution(s, product, std::abs(product) + h);
      }
    }
    const Summation summation{.additions = additions_of(windows.count(), arithmetic),
                              .is_long = false};
    for (std::size_t c = 0; c < sums.size(); ++c)
      writer.write(r, static_cast<std::int64_t>(c), sums[c], summation);
  });
  return e;
}

/// Adds what one window contributes to an element of weight_grad.
void add_window(Sums& s, const double* gradient, const double* input, std::int64_t dim,
                const Staging& staging) {
  const DotSums dot = dot_sums(gradient, input, dim);
  const double before = s.rounded;
  s.value += dot.value;
  s.absolute += dot.absolute;
  s.squares += dot.squares;
  if (staging.rounds_products())
    for (std::int64_t c = 0; c < dim; ++c) staging.product(s, gradient[c] * input[c]);
  if (staging.rounds_contributions())
    staging.contribution(
        s, dot.value,
        std::abs(dot.value) + s.rounded - before + staging.accumulated(dim) * dot.absolute);
}

Expectation expected_weight_grad(const Dense& dense, const Arithmetic& arithmetic, Rows rows) {
  Expectation e = blank("weight_grad", dense.weights, rows);
  const Op::Problem& p = dense.problem;
  const Staging staging(arithmetic);
  Writer writer(arithmetic, e, e.elements());
  parallel::for_each(e.row_count(), [&](std::int64_t r) {
    const spec::RowPosition row = e.extents.position(rows[static_cast<std::size_t>(r)]);
    Sums s;
    for (std::int64_t b = 0; b < p.batch; ++b)
      for (std::int64_t i = 0; i < dense.outputs.length(b); ++i)
        add_window(s, dense.output_grad(b, row.n, i),
                   dense.input(b, row.n, i * p.compress_stride + row.s), p.head_dim, staging);
    s.count = static_cast<double>(all_windows(p) * p.head_dim);
    writer.write(r, 0, s, {.additions = s.count > 0 ? worst_chain(s.count) : 0, .is_long = true});
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
