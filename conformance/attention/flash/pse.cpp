#include <algorithm>
#include <cmath>

#include "assay/conformance/attention/flash.hpp"
#include "assay/conformance/judge/arithmetic.hpp"
#include "attention/profiles.hpp"

namespace assay::conformance::attention::flash {
namespace {

using Problem = spec::AttentionProblem;
using spec::PseShape;

/// Limits of the amplitude of the bias. With pse_type 1 the kernel multiplies the bias by
/// scale_value. The amplitude is then 1 / scale_value, but within these limits, because fp16 has a
/// small range.
constexpr double largest_amplitude = 64, smallest_amplitude = 0x1p-6;

double amplitude_of(const Problem& p) {
  const double scale = std::abs(p.scale_value);
  if (p.pse_type != 1 || scale == 0) return 1;
  return std::clamp(1 / scale, smallest_amplitude, largest_amplitude);
}

/// Fills the bias with random numbers, row by row. The input profile (the distribution of values)
/// defines them.
class Bias {
 public:
  Bias(const Problem& p, const std::string& profile, std::uint64_t seed, spec::DType dtype)
      : places_(seed, Stream::pse),
        value_(profile_value(profile)),
        amplitude_(amplitude_of(p)),
        place_{.tensor = Stream::pse,
               .dtype = dtype,
               .s = 0,
               .d = 0,
               .row = places_.head(0, 0),
               .head = places_.head(0, 0)} {}

  void go_to(std::int64_t b, std::int64_t n, std::int64_t i) {
    place_.s = i;
    place_.row = places_.row(b, n, i);
    place_.head = places_.head(b, n);
  }
  double operator()(std::int64_t j) {
    place_.d = j;
    return std::max(amplitude_ * value_(place_), -largest_finite(place_.dtype));
  }

 private:
  DrawnPlaces places_;
  ProfileValue value_;
  double amplitude_;
  Place place_;
};

/// Fills all elements of a bias tensor with the four axes (b, n, i, j); an axis may have extent 1.
void fill_full(spec::Tensor& pse, Bias& bias) {
  const spec::Shape &shape = pse.shape, &stride = pse.strides;
  for (std::int64_t b = 0; b < shape[0]; ++b)
    for (std::int64_t n = 0; n < shape[1]; ++n)
      for (std::int64_t i = 0; i < shape[2]; ++i) {
        bias.go_to(b, n, i);
        const std::int64_t first = pse.offset + b * stride[0] + n * stride[1] + i * stride[2];
        for (std::int64_t j = 0; j < shape[3]; ++j) pse.store(first + j * stride[3], bias(j));
      }
}

/// Fills the last rows of a bias that depends only on i - j: row r belongs to query seq_kv - 1024 +
/// r.
void fill_last_rows(spec::Tensor& pse, Bias& bias) {
  const spec::Shape &shape = pse.shape, &stride = pse.strides;
  const std::int64_t first_query = shape[3] - spec::compressed_pse_rows;
  for (std::int64_t b = 0; b < shape[0]; ++b)
    for (std::int64_t n = 0; n < shape[1]; ++n) {
      bias.go_to(b, n, 0);
      for (std::int64_t r = 0; r < shape[2]; ++r) {
        const std::int64_t first = pse.offset + b * stride[0] + n * stride[1] + r * stride[2];
        for (std::int64_t j = 0; j < shape[3]; ++j)
          pse.store(first + j * stride[3], bias(first_query + r - j));
      }
    }
}

/// Fills one sequence after another without gaps. Each sequence has one row per head, or one per
/// query.
void fill_packed(spec::Tensor& pse, Bias& bias, const Problem& p) {
  std::int64_t element = pse.offset;
  for (std::int64_t b = 0; b < p.batch; ++b) {
    const std::int64_t rows = p.pse_shift == PseShape::packed_bn1s ? 1 : p.length_q(b);
    for (std::int64_t n = 0; n < p.heads_q; ++n)
      for (std::int64_t i = 0; i < rows; ++i) {
        bias.go_to(b, n, i);
        for (std::int64_t j = 0; j < p.length_kv(b); ++j) pse.store(element++, bias(j));
      }
  }
}

/// Returns random slopes of the heads of one sequence, with both signs. Most have a magnitude from
/// 2^-8 to 1; the others are 0 or have a magnitude from 2 to 16. At least one slope is neither 0
/// nor large, so that not all gradients are zero.
class Slopes {
 public:
  Slopes(const DrawnPlaces& places, std::int64_t b, std::int64_t heads)
      : places_(&places), b_(b), ordinary_(places.row(b, 0, 0).integer(0, 0, heads - 1)) {}

  double operator()(std::int64_t n) const {
    constexpr std::int64_t lots = 16, zero = 2, large = 4, powers = 8;
    const Random random = places_->head(b_, n);
    const double sign = random.bits(1) % 3 == 0 ? -1 : 1;
    const std::int64_t lot = n == ordinary_ ? lots : random.integer(2, 0, lots - 1);
    if (lot < zero) return 0;
    if (lot < zero + large) return sign * std::exp2(1 + 3 * random.uniform(3));
    const double power = 1.0 / static_cast<double>(std::int64_t{2} << (n % powers));
    // The slopes of different heads are different powers of two.
    const bool exact = n < powers && random.bits(0) % 2 == 0;
    return sign * power * (exact ? 1 : 1 + random.uniform(4));
  }

 private:
  const DrawnPlaces* places_;
  std::int64_t b_, ordinary_;
};

void fill_slopes(spec::Tensor& pse, std::uint64_t seed) {
  const DrawnPlaces places(seed, Stream::pse);
  const std::size_t rank = pse.shape.size();
  const std::int64_t batches = rank == 1 ? 1 : pse.shape[0];
  const std::int64_t heads = pse.shape[rank - 1];
  for (std::int64_t b = 0; b < batches; ++b) {
    const Slopes slope(places, b, heads);
    for (std::int64_t n = 0; n < heads; ++n)
      pse.store(pse.offset + (rank == 1 ? 0 : b * pse.strides[0]) + n * pse.strides[rank - 1],
                slope(n));
  }
}

}  // namespace

std::optional<spec::Tensor> pse_of(const spec::Parameter& parameter, const Problem& p,
                                   const std::string& profile, std::uint64_t seed) {
  if (p.pse_shift == PseShape::absent) return std::nullopt;
  spec::Tensor pse = guarded_tensor(parameter);
  Bias bias(p, profile, seed, pse.dtype);
  switch (p.pse_shift) {
    case PseShape::bnss:
    case PseShape::bn1s:
    case PseShape::one_nss:
      fill_full(pse, bias);
      break;
    case PseShape::bnhs:
    case PseShape::one_nhs:
      fill_last_rows(pse, bias);
      break;
    case PseShape::packed_bn1s:
    case PseShape::packed_bnss:
      fill_packed(pse, bias, p);
      break;
    case PseShape::slopes_n:
    case PseShape::slopes_bn:
      fill_slopes(pse, seed);
      break;
    case PseShape::absent:
      break;
  }
  return pse;
}

}  // namespace assay::conformance::attention::flash
