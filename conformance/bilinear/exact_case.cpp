#include "bilinear/exact_case.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "assay/conformance/inputs/inputs.hpp"
#include "assay/conformance/inputs/random.hpp"
#include "assay/parallel/loop.hpp"
#include "assay/spec/at.hpp"
#include "bilinear/exactness.hpp"
#include "bilinear/operands.hpp"
#include "inputs/input_profiles.hpp"
#include "judge/decide.hpp"

namespace assay::conformance::bilinear {
namespace {

using Integers = std::vector<std::int32_t>;
using spec::at;

constexpr int most_attempts = 64;

bool is_16_bit(spec::DType type) { return type == spec::DType::fp16 || type == spec::DType::bf16; }
/// The value range of an input: integers up to an amplitude, times a power of two.
struct Range {
  std::int64_t amplitude;
  int exponent;
};

struct Ranges {
  std::vector<Range> operands;
  std::uint64_t one_in = 2;  ///< one in this many elements of the thinned operand is not zero
};

/// Returns whether the kernel stores any number in fp16. The range of fp16 is small.
bool has_half(const spec::Numerics& numerics, spec::DType io) {
  constexpr spec::DType half = spec::DType::fp16;
  return io == half || numerics.stage == half || numerics.partials == half ||
         numerics.accumulator == spec::Accumulator::fp16;
}

/// Returns the value ranges that are tried first. For the track (test method) `exact`, the kernel
/// must store every product without rounding. For the track `exact_staged`, products have more bits
/// than the 16-bit type of the kernel's intermediates, so the kernel must round them.
Ranges first_ranges(const ExactQuestion& question, const spec::Numerics& numerics, int bits) {
  const int io_bits = spec::format_of(question.io).significand_bits;
  const bool fits = question.track == Track::exact;
  const std::int64_t thinned = fits ? 3 : 63;
  const std::int64_t other =
      fits ? ((std::int64_t{1} << bits) - 1) / thinned : (std::int64_t{1} << (io_bits - 1)) - 1;
  // The exponent is at most -5 for fp16. A sum of up to 2^24 units of 2^exponent must be below the
  // largest finite number of fp16.
  const Random random = stream(question.seed, Stream::exact_case);
  const int largest = has_half(numerics, question.io) ? -5 : 6;
  Ranges ranges;
  for (std::size_t k = 0; k < question.form.operands.size(); ++k)
    ranges.operands.push_back({k == question.form.thinned ? thinned : other,
                               static_cast<int>(random.integer(k, -6, largest))});
  return ranges;
}

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

/// Keeps each element with a probability of about 1 / one_in and sets the others to zero. Then sets
/// one element of each head to 1 or -1, so that no head is completely zero.
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

std::vector<ExactOperand> draw(const ExactQuestion& question, const Ranges& ranges) {
  std::vector<ExactOperand> drawn;
  for (std::size_t k = 0; k < ranges.operands.size(); ++k) {
    const Operand& operand = question.form.operands[k];
    drawn.push_back({drawn_rows(operand.extents, ranges.operands[k].amplitude,
                                DrawnPlaces(question.seed, operand.stream)),
                     ranges.operands[k].exponent});
  }
  const std::size_t k = question.form.thinned;
  thin(drawn[k].integers, question.form.operands[k].extents, ranges.one_in,
       DrawnPlaces(question.seed, Stream::exact_case));
  return drawn;
}

/// Rounds a product to the 16-bit type in which the kernel stores intermediate products. Products
/// and results are integers in units of 2^exponent.
class StagedProduct {
 public:
  StagedProduct(const spec::Numerics& numerics, int exponent)
      : numerics_(numerics), exponent_(exponent), is_narrow_(is_16_bit(numerics.stage)) {
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

/// The exact sums of one output. The largest sum of magnitudes bounds all partial sums, in any
/// order of summation.
struct IntegerSums {
  std::vector<std::int64_t> values;
  std::int64_t largest = 0;
};

/// Computes the exact sums of some rows of an output.
class Summation {
 public:
  Summation(const ExactQuestion& question, const spec::Numerics& numerics,
            const std::vector<ExactOperand>& operands, std::size_t sum)
      : sum_(question.form.sums[sum]),
        left_(operands[sum_.left].integers),
        right_(operands[sum_.right].integers),
        channels_(question.form.operands[sum_.right].extents.dim),
        staged_(numerics, operands[sum_.left].exponent + operands[sum_.right].exponent) {}

  IntegerSums of(const std::vector<std::int64_t>& rows) const {
    const std::int64_t dim = sum_.extents.dim;
    IntegerSums sums{.values = std::vector<std::int64_t>(rows.size() * at(dim))};
    std::vector<std::int64_t> largest(rows.size(), 0);
    parallel::for_each(std::ssize(rows), [&](std::int64_t r) {
      std::vector<RowPair> pairs;
      sum_.pairs(sum_.extents.position(rows[at(r)]), pairs);
      std::vector<std::int64_t> magnitudes(at(dim), 0);
      add(pairs, sums.values.data() + r * dim, magnitudes.data());
      largest[at(r)] = *std::ranges::max_element(magnitudes);
    });
    for (const std::int64_t magnitude : largest) sums.largest = std::max(sums.largest, magnitude);
    return sums;
  }

 private:
  void add(const std::vector<RowPair>& pairs, std::int64_t* values,
           std::int64_t* magnitudes) const {
    for (const RowPair& pair : pairs)
      for (std::int64_t c = 0; c < channels_; ++c) {
        const std::int64_t left = left_[at(sum_.contracts ? pair.left * channels_ + c : pair.left)],
                           product = staged_(left * right_[at(pair.right * channels_ + c)]);
        const std::int64_t to = sum_.contracts ? 0 : c;
        values[to] += product;
        magnitudes[to] += std::abs(product);
      }
  }

  const Sum& sum_;
  const Integers &left_, &right_;
  std::int64_t channels_;
  StagedProduct staged_;
};

/// Makes the range of an input smaller. For the track (test method) `exact`, the integers become
/// smaller first. For the track `exact_staged` the integers must stay large, so the number of
/// nonzero elements is reduced.
void reduce(Ranges& ranges, std::size_t operand, Track track) {
  std::int64_t& amplitude = ranges.operands[operand].amplitude;
  if (track == Track::exact && amplitude > 3)
    amplitude /= 2;
  else
    ranges.one_in *= 2;
}

void require_known_staging(Track track, const spec::Numerics& numerics) {
  if (track != Track::exact_staged) return;
  const spec::Rounding round = numerics.round_stage;
  const bool is_known =
      round == spec::Rounding::rne || round == spec::Rounding::rna || round == spec::Rounding::rtz;
  if (is_16_bit(numerics.stage) && !is_known)
    throw NoExactCase("the rounding of staged products is unknown: " +
                      std::string(to_string(round)));
  if (is_16_bit(numerics.partials))
    throw NoExactCase("partial results are rounded, and their terms are unknown");
}

}  // namespace

ExactAnswer exact_answer(const ExactQuestion& question, const spec::Numerics& numerics,
                         ExactPart part) {
  require_known_staging(question.track, numerics);
  const Form& form = question.form;
  const Exactness exact = exactness(numerics, question.io);
  const std::int64_t limit = std::int64_t{1} << exact.sum;
  Ranges ranges = first_ranges(question, numerics, exact.product);
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    ExactAnswer answer{.operands = draw(question, ranges), .outputs = {}};
    bool fits = true;
    for (std::size_t k = 0; k < form.sums.size(); ++k) {
      const Sum& sum = form.sums[k];
      const IntegerSums sums =
          Summation(question, numerics, answer.operands, k).of(question.judged[k]);
      const std::size_t other = sum.left == form.thinned ? sum.right : sum.left;
      if (sums.largest > limit) {
        fits = false;
        reduce(ranges, other, question.track);
      }
      ExactSums& output =
          answer.outputs.emplace_back(ExactSums{sum.name, {}, question.judged[k], sum.extents.dim});
      const int exponent = answer.operands[sum.left].exponent + answer.operands[sum.right].exponent;
      if (part == ExactPart::all)
        for (const std::int64_t value : sums.values) output.values.push_back({value, exponent});
    }
    if (fits) return answer;
  }
  throw NoExactCase("a sum needs more than " + std::to_string(exact.sum) + " bits");
}

std::vector<double> values_of(const ExactOperand& operand) {
  std::vector<double> values;
  for (const std::int32_t integer : operand.integers)
    values.push_back(std::ldexp(integer, operand.exponent));
  return values;
}

}  // namespace assay::conformance::bilinear
