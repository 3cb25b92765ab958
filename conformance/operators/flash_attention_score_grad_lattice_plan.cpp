#include "flash_attention_score_grad_lattice_plan.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <sstream>
#include <string>

#include "../lattice/draws.hpp"
#include "assay/conformance/lattice.hpp"

namespace assay::conformance::lattice {
namespace {

constexpr int smallest_shift = -4, largest_shift = 9;

[[noreturn]] void refuse(const std::string& reason) { throw NoLattice(reason); }

std::string text_of(double value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

std::optional<Scale> decode(double scale_value) {
  const double magnitude = std::abs(scale_value);
  for (int shift = smallest_shift; shift <= largest_shift; ++shift)
    for (const std::int64_t factor : {1, 3})
      if (magnitude == std::ldexp(static_cast<double>(factor), -shift))
        return Scale{.sign = scale_value < 0 ? -1 : 1, .factor = factor, .shift = shift};
  return std::nullopt;
}

bool is_customary(double scale_value, std::int64_t head_dim) {
  return scale_value * scale_value * static_cast<double>(head_dim) == 1.0;
}

Scale scale_of(const Op::Problem& p) {
  const auto scale = decode(p.scale_value);
  if (!scale)
    refuse("scale_value " + text_of(p.scale_value) +
           " is none of +-2^-a, +-3*2^-a with a in -4..9");
  if (is_customary(p.scale_value, p.head_dim))
    refuse("scale_value " + text_of(p.scale_value) + " is 1/sqrt(head_dim) for head_dim " +
           std::to_string(p.head_dim) + ": a kernel that ignores it would pass");
  return *scale;
}

int bits_of(spec::DType dtype) { return spec::format_of(dtype).significand_bits; }

int product_bits(spec::Product32 product) {
  switch (product) {
    case spec::Product32::tf32:
      return 11;
    case spec::Product32::hf32:
      return 12;
    case spec::Product32::exact:
      break;
  }
  return 24;
}

bool is_nearest(spec::Rounding rounding) {
  return rounding == spec::Rounding::rne || rounding == spec::Rounding::rna ||
         rounding == spec::Rounding::unknown;
}

/// Whether the staging removes an error of P near 2^-16 relative.
bool absorbs_errors(const spec::NumericsProfile& n) {
  return bits_of(n.stage) < 24 && is_nearest(n.round_stage);
}

void require_lattice(const Case<Op>& c, const spec::NumericsProfile& n) {
  const Op::Problem& p = c.problem;
  if (c.track != Track::a1 && c.track != Track::a2)
    refuse("track " + std::string(spec::to_string(c.track)) + " is neither a1 nor a2");
  if (!spec::is_fp16_bf16_fp32(p.dtype))
    refuse("type " + std::string(to_string(p.dtype)) + " is none of fp16, bf16, fp32");
  if (p.keep_prob != 1.0) refuse("keep_prob " + text_of(p.keep_prob) + " is not 1");
  if (bits_of(n.partials) < 24 && p.group() > 1)
    refuse("partial results in " + std::string(to_string(n.partials)) + " of " +
           std::to_string(p.group()) + " heads per key head are rounded in an unknown order");
  if (n.lse_form && (!absorbs_errors(n) || n.exp_error > 0x1p-16))
    refuse("exp(score - lse) is not exact, and staging in " + std::string(to_string(n.stage)) +
           " with rounding " + std::string(to_string(n.round_stage)) + " and exp_error " +
           text_of(n.exp_error) + " does not remove its error");
  const bool rounds = c.track == Track::a2 && bits_of(n.stage) < 24;
  if (rounds &&
      (n.round_stage == spec::Rounding::stochastic || n.round_stage == spec::Rounding::unknown_any))
    refuse("track a2 needs to know how staging rounds, the profile says " +
           std::string(to_string(n.round_stage)));
}

/// Channels of dy and value that give dS its size; track a2 needs many, since only long sums exceed
/// the staged type.
std::int64_t shared_channels(const Case<Op>& c) {
  const std::int64_t dim = c.problem.head_dim_v;
  const bool many = c.track == Track::a2 && bits_of(c.problem.dtype) < 24;
  return std::max<std::int64_t>(1, many ? dim * 2 / 3 : dim / 2);
}

/// In 16 bits dS is as large as the staged type allows, on track a2 some bits larger; in fp32 there
/// are two flavours by the parity of the seed: large data with small dS shows rounded products,
/// small data with dS of twelve bits shows narrow staging.
Magnitudes magnitudes_of(const Case<Op>& c) {
  const bool a2 = c.track == Track::a2;
  switch (c.problem.dtype) {
    case spec::DType::bf16:
      return a2 ? Magnitudes{.dy_shared = 255, .shared_per_row = 40} : Magnitudes{.dy_shared = 127};
    case spec::DType::fp16:
      if (!a2) return {.dy_shared = 255};
      return {.dy_shared = shared_channels(c) <= 8 ? 1023 : 511, .shared_per_row = 40};
    default:
      break;
  }
  return c.seed % 2 == 0 ? Magnitudes{.data = 4097, .dy_only = 4097} : Magnitudes{.dy_shared = 31};
}

/// Codes that tell all keys apart, as far as head_dim leaves room beside the constant channel and
/// some data channels.
std::int64_t code_bits_of(const Case<Op>& c) {
  const Op::Problem& p = c.problem;
  const std::int64_t wanted = bit_length(p.seq_kv - 1);
  const auto few = static_cast<std::int64_t>(p.head_dim > 2 && c.seed % 2 == 0 ? 1 : 0);
  const std::int64_t data = p.head_dim < 6 ? few : std::max<std::int64_t>(2, p.head_dim / 4);
  return std::min(wanted, p.head_dim - 1 - data);
}

}  // namespace

Plan plan_of(const Case<Op>& c, const spec::NumericsProfile& n) {
  require_lattice(c, n);
  const bool a2 = c.track == Track::a2, staged = bits_of(n.stage) < 24;
  Plan plan{.problem = c.problem,
            .numerics = n,
            .seed = c.seed,
            .scale = scale_of(c.problem),
            .magnitudes = magnitudes_of(c),
            .code_bits = code_bits_of(c),
            .shared_channels = shared_channels(c)};
  plan.staged_rounding = a2 && staged;
  plan.odd_dy = a2 && bits_of(c.problem.dtype) < 24;
  plan.unique_staging = n.lse_form || n.round_stage == spec::Rounding::unknown;
  plan.offsets = !a2 && absorbs_errors(n);
  plan.sum_bits = n.accumulator == spec::Accumulator::fp16 ? 11 : 24;
  plan.paired = plan.sum_bits == 24 && plan.magnitudes.data < 128;
  plan.operand_bits = std::min(bits_of(c.problem.dtype), bits_of(n.stage));
  if (c.problem.dtype == spec::DType::fp32 || (a2 && !staged))
    plan.operand_bits = std::min(bits_of(n.stage), product_bits(n.product));
  const std::int64_t widest = (std::int64_t{1} << product_bits(n.product)) - 1;
  plan.magnitudes.data = std::min(plan.magnitudes.data, widest);
  plan.magnitudes.dy_only = std::min(plan.magnitudes.dy_only, widest);
  plan.shifted_output = c.problem.seq_kv == 1 && n.delta == spec::Origin::given &&
                        n.stats == spec::Origin::given && c.seed / 2 % 2 == 0;
  return plan;
}

int query_exponent(const Scale& scale) { return std::min(0, scale.shift - 3); }

std::int64_t dy_budget(const Plan& plan, int k) {
  // |dS| 4^k <= 2^(k+1) sum|dy| must fit the staged operand, the scale's factor included.
  if (!plan.staged_rounding)
    return (std::int64_t{1} << (std::min(plan.operand_bits, 20) - k - 1)) / plan.scale.factor;
  return std::int64_t{1} << std::min(bits_of(plan.numerics.store_dp), 20);
}

}  // namespace assay::conformance::lattice

namespace assay::conformance {

double lattice_scale(const spec::FlashAttentionScoreGrad::Problem& problem, std::uint64_t seed) {
  lattice::Draws draws(stream(seed, Stream::sampling), 0x5ca1e);
  const int customary = (lattice::bit_length(problem.head_dim) - 1) / 2;
  const auto sign = static_cast<double>(draws.one_in(4) ? -1 : 1);
  if (draws.one_in(4)) return sign * std::ldexp(3.0, -customary - 2);
  const int step = draws.one_in(2) ? 1 : -1;
  const double scale = sign * std::ldexp(1.0, -customary - (draws.one_in(2) ? 0 : step));
  return lattice::is_customary(scale, problem.head_dim) ? scale / 2 : scale;
}

}  // namespace assay::conformance
