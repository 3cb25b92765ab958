#include "attention/exact/plan.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <sstream>
#include <string>

#include "assay/conformance/attention/exact_case.hpp"
#include "attention/exact/draws.hpp"

namespace assay::conformance::exact {
namespace {

constexpr int smallest_shift = -4, largest_shift = 9;

[[noreturn]] void refuse(const std::string& reason) { throw NoExactCase(reason); }

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

bool is_customary(double scale_value, const Op::Problem& p) {
  const double square = scale_value * scale_value;
  return square * static_cast<double>(p.head_dim) == 1.0 ||
         square * static_cast<double>(p.head_dim + p.head_dim_rope) == 1.0;
}

Scale scale_of(const Op::Problem& p) {
  const auto scale = decode(p.scale_value);
  if (!scale)
    refuse("scale_value " + text_of(p.scale_value) + " is not +-2^-a or +-3*2^-a with a in -4..9");
  if (is_customary(p.scale_value, p))
    refuse("scale_value " + text_of(p.scale_value) + " is 1/sqrt(head_dim) for head_dim " +
           std::to_string(p.head_dim) + " and head_dim_rope " + std::to_string(p.head_dim_rope) +
           ": a kernel that ignores scale_value would pass");
  return *scale;
}

/// Returns the exponent t with keep_prob = 2^-t.
int drop_shift_of(const Op::Problem& p) {
  constexpr int largest = 10;
  for (int shift = 0; shift <= largest; ++shift)
    if (p.keep_prob == std::ldexp(1.0, -shift)) return shift;
  refuse("keep_prob " + text_of(p.keep_prob) + " is not 2^-t with t in 0..10");
}

int bits_of(spec::DType dtype) { return spec::format_of(dtype).significand_bits; }

int product_bits(spec::Product32 product) {
  switch (product) {
    case spec::Product32::tf32:
    case spec::Product32::tf32_truncating:
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

/// Returns whether the kernel rounds P to a narrow type, in which a relative error of about 2^-16
/// disappears.
bool absorbs_errors(const spec::Numerics& n) {
  return bits_of(n.stage) < 24 && is_nearest(n.round_stage);
}

/// Returns whether the kernel computes exp(score - maximum) = 1 exactly for attended keys, if the
/// maximum is factor * 2^k. A kernel with a fused exponential multiplies score and maximum by
/// constants that are rounded separately. The two products are equal if the maximum is a power of
/// two; if it is three times a power of two, they may differ.
bool keeps_maxima_exact(const spec::Numerics& n, const Scale& scale) {
  return !n.lse_form && (scale.factor == 1 || !n.fused);
}

void require_exact_case(const AttentionCase& c, const spec::Numerics& n) {
  const Op::Problem& p = c.problem;
  if (c.track != Track::exact && c.track != Track::exact_staged)
    refuse("track " + std::string(spec::to_string(c.track)) + " is neither exact nor exact_staged");
  if (!spec::is_fp16_bf16_fp32(p.dtype))
    refuse("type " + std::string(to_string(p.dtype)) + " is not fp16, bf16 or fp32");
  if (bits_of(n.partials) < 24 && p.group() > 1)
    refuse("partial results in " + std::string(to_string(n.partials)) + " of " +
           std::to_string(p.group()) + " query heads per key head are added in an unknown order");
  if (n.lse_form && (!absorbs_errors(n) || std::max(n.exp_error, n.log_error) > 0x1p-16))
    refuse("exp(score - lse) is not exact, and staging in " + std::string(to_string(n.stage)) +
           " with rounding " + std::string(to_string(n.round_stage)) + ", exp_error " +
           text_of(n.exp_error) + " and log_error " + text_of(n.log_error) +
           " does not remove its error");
  if (n.delta == spec::RowTerm::own_output)
    refuse("delta=own_output has no exact case: the kernel rounds its own output");
  const bool rounds = c.track == Track::exact_staged && bits_of(n.stage) < 24;
  if (rounds &&
      (n.round_stage == spec::Rounding::stochastic || n.round_stage == spec::Rounding::unknown_any))
    refuse(
        "track exact_staged needs numerics that declare how staged values are rounded; they "
        "declare " +
        std::string(to_string(n.round_stage)));
}

/// Returns the number of channels in which both dy and value may be nonzero; they determine the
/// size of dS. The track (test method) exact_staged, which tests how a kernel rounds dS, needs many
/// such channels: only long sums exceed the precision of the 16-bit type.
std::int64_t shared_channels(const AttentionCase& c) {
  const std::int64_t dim = c.problem.head_dim_v;
  const bool many = c.track == Track::exact_staged && bits_of(c.problem.dtype) < 24;
  return std::max<std::int64_t>(1, many ? dim * 2 / 3 : dim / 2);
}

/// Returns the largest magnitudes of the data. For 16-bit types dS is as large as the type of the
/// intermediates allows; in the track (test method) exact_staged it is some bits larger. For fp32
/// an even or odd seed selects large data with small dS, which detect rounded products, or small
/// data with dS of twelve bits, which detect intermediates that are rounded to 16 bits.
Magnitudes magnitudes_of(const AttentionCase& c) {
  const bool staged_track = c.track == Track::exact_staged;
  switch (c.problem.dtype) {
    case spec::DType::bf16:
      return staged_track ? Magnitudes{.dy_shared = 255, .shared_per_row = 40}
                          : Magnitudes{.dy_shared = 127};
    case spec::DType::fp16:
      if (!staged_track) return {.dy_shared = 255};
      return {.dy_shared = shared_channels(c) <= 8 ? 1023 : 511, .shared_per_row = 40};
    default:
      break;
  }
  return c.seed % 2 == 0 ? Magnitudes{.data = 4097, .dy_only = 4097} : Magnitudes{.dy_shared = 31};
}

/// Returns a number d: for every query i of sequence b, all keys after i + d are masked.
std::int64_t highest_diagonal(const Op::Problem& p, std::int64_t b) {
  const std::int64_t last = std::max<std::int64_t>(p.length_kv(b) - 1, 0);
  const std::int64_t corner = p.length_kv(b) - p.length_q(b);
  const std::int64_t next =
      corner + std::clamp<std::int64_t>(p.next_tokens, -p.seq_kv, p.seq_kv + p.seq_q);
  if (p.atten_mask == spec::MaskShape::absent) return last;
  switch (p.sparse_mode) {
    case 2:
      return std::min<std::int64_t>(0, last);
    case 3:
      return std::min(corner, last);
    case 4:
      return std::min(next, last);
    case 8:
      return std::min(std::max<std::int64_t>(next, 0), last);
    default:
      return last;
  }
}

/// Returns whether all unmasked keys are at or before the position of their query. A distance is
/// then the position of the query minus that of the key, and needs no absolute value.
bool looks_back(const Op::Problem& p) {
  for (std::int64_t b = 0; b < p.batch; ++b) {
    const std::int64_t diagonal = highest_diagonal(p, b);
    if (p.length_q(b) > 0 && diagonal > centre_of(p, b, 0)) return false;
  }
  return true;
}

/// Chooses how an exact case handles the position bias. Channels of query and key can cancel a bias
/// slope * distance only if products are exact and there are enough channels for all digits of the
/// positions.
BiasForm form_of(const AttentionCase& c, const spec::Numerics& n, const Scale& scale) {
  constexpr std::int64_t roomy = 24, longest = 65536, longest_steep = 4096;
  constexpr double gentlest = 4, steepest = 256;
  const Op::Problem& p = c.problem;
  if (p.pse_shift == spec::PseShape::absent) return BiasForm::none;
  if (p.pse_type < 2) return BiasForm::flags;
  const bool exact_products = bits_of(n.store_s) == 24 && n.accumulator != spec::Accumulator::fp16;
  const std::int64_t reach =
      std::max({p.seq_kv, std::abs(centre_of(p, 0, 0)), std::abs(centre_of(p, 0, p.seq_q))});
  if (p.pse_type == 3 || !exact_products || p.head_dim + p.head_dim_rope < roomy || c.seed % 8 == 0)
    return BiasForm::nearest;
  const double unit = p.dtype == spec::DType::fp16
                          ? std::ldexp(static_cast<double>(reach), scale.shift) / largest_fp16
                          : 0.0;
  if (looks_back(p) && reach <= longest && gentlest * unit <= 1) return BiasForm::cancelled;
  return reach <= longest_steep && steepest * unit <= 1 ? BiasForm::halved : BiasForm::nearest;
}

/// Returns the number of channels with which a query raises its scores: several if the bias depends
/// on the position, one if the bias only lowers some scores by 128.
std::int64_t raises_of(const ExactPlan& plan) {
  const std::int64_t width = plan.width();
  if (plan.bias == BiasForm::none) return 0;
  if (plan.bias == BiasForm::flags) return width >= 4 ? 1 : 0;
  return width >= 8 ? 3 : width >= 2 ? 1 : 0;
}

/// Returns the number of code bits per key: enough to distinguish all keys, unless there are too
/// few channels. One channel is constant, `taken` channels are already used otherwise, and some
/// channels contain data.
std::int64_t code_bits_of(const ExactPlan& plan, std::int64_t taken) {
  const std::int64_t width = plan.width(),
                     wanted = bit_length(std::max<std::int64_t>(plan.problem.seq_kv, 1) - 1);
  const auto few = static_cast<std::int64_t>(width > 2 && plan.seed % 2 == 0 ? 1 : 0);
  const std::int64_t data = width < 6 ? few : std::max<std::int64_t>(2, width / 4);
  return std::max<std::int64_t>(std::min(wanted, width - 1 - data - taken), 0);
}

void lay_out_channels(ExactPlan& plan) {
  if (plan.bias >= BiasForm::halved)
    plan.positions = (bit_length(plan.problem.seq_kv - 1) + digit_bits - 1) / digit_bits;
  plan.raises = raises_of(plan);
  // With pse_type 3 the bias is the square root of the distance. The square roots of two
  // consecutive distances are both integers only for the distances 0 and 1. If the parity channel
  // compensates for the difference, these two neighbours have equal scores.
  constexpr std::int64_t roomy = 16;
  const bool exact_scores = bits_of(plan.numerics.store_s) == 24;
  if (plan.bias == BiasForm::nearest && plan.problem.pse_type == 3 && exact_scores &&
      plan.width() >= roomy)
    plan.parities = 1;
  plan.code_bits = code_bits_of(plan, plan.raises + plan.positions + plan.parities);
}

}  // namespace

ExactPlan plan_of(const AttentionCase& c, const spec::Numerics& n, ValueForm value) {
  require_exact_case(c, n);
  const bool staged_track = c.track == Track::exact_staged, staged = bits_of(n.stage) < 24;
  ExactPlan plan{.problem = c.problem,
                 .numerics = n,
                 .seed = c.seed,
                 .scale = scale_of(c.problem),
                 .magnitudes = magnitudes_of(c),
                 .shared_channels = shared_channels(c)};
  plan.bias = form_of(c, n, plan.scale);
  plan.drop_shift = drop_shift_of(c.problem);
  plan.rope_carries = c.problem.head_dim_rope > 0 && c.seed % 2 == 0;
  plan.staged_rounding = staged_track && staged;
  plan.odd_dy = staged_track && bits_of(c.problem.dtype) < 24;
  plan.unique_staging = n.lse_form || n.round_stage == spec::Rounding::unknown;
  plan.offsets = (!staged_track && absorbs_errors(n)) || keeps_maxima_exact(n, plan.scale);
  plan.sum_bits = n.accumulator == spec::Accumulator::fp16 ? 11 : 24;
  plan.paired = plan.sum_bits == 24 && plan.magnitudes.data < 128 && plan.bias < BiasForm::nearest;
  lay_out_channels(plan);
  plan.operand_bits = std::min(bits_of(c.problem.dtype), bits_of(n.stage));
  if (c.problem.dtype == spec::DType::fp32 || (staged_track && !staged))
    plan.operand_bits = std::min(bits_of(n.stage), product_bits(n.product));
  const std::int64_t widest = (std::int64_t{1} << product_bits(n.product)) - 1;
  plan.magnitudes.data = std::min(plan.magnitudes.data, widest);
  plan.magnitudes.dy_only = std::min(plan.magnitudes.dy_only, widest);
  plan.value = value;
  // attention_in contains sums of 8 values, and bf16 must represent these sums exactly.
  constexpr std::int64_t largest_of_key = 31;
  if (value != ValueForm::own)
    plan.magnitudes.data = std::min(plan.magnitudes.data, largest_of_key);
  plan.shifts_output =
      n.delta == spec::RowTerm::given && n.stats == spec::Origin::given && c.seed / 2 % 2 == 0;
  return plan;
}

int query_exponent(const Scale& scale) { return std::min(0, scale.shift - 3); }

std::int64_t dy_budget(const ExactPlan& plan, int k) {
  // The product |dS| 4^k (at most 2^(k+1) sum|dy|), multiplied by the factor of the scale, must fit
  // into the type in which the kernel stores intermediates. A row attends to 2^k keys.
  const auto& n = plan.numerics;
  const std::int64_t budget =
      plan.staged_rounding
          ? std::int64_t{1} << std::min(bits_of(n.store_dp), 20)
          : (std::int64_t{1} << (std::min(plan.operand_bits, 20) - k - 1)) / plan.scale.factor;
  if (plan.drop_shift == 0 || !has_fp16(plan)) return budget;
  // Dropout multiplies dP and dS. Both must stay within the range of fp16, 65504.
  return std::min(budget, std::int64_t{1} << (14 - plan.drop_shift));
}

bool has_fp16(const ExactPlan& plan) {
  const auto& n = plan.numerics;
  return plan.problem.dtype == spec::DType::fp16 || n.stage == spec::DType::fp16 ||
         n.store_dp == spec::DType::fp16;
}

std::int64_t centre_of(const Op::Problem& p, std::int64_t b, std::int64_t i) {
  const bool counts = !p.q_start_idx.empty() && !p.kv_start_idx.empty();
  // In sparse mode 8 the start indices apply only to the first packed sequence.
  const bool first_only = is_packed(p.input_layout) && p.sparse_mode == 8;
  if (!counts || (first_only && b > 0)) return i;
  return i + p.q_start_idx[0] - p.kv_start_idx[0];
}

}  // namespace assay::conformance::exact

namespace assay::conformance {

double exact_case_scale(const spec::FlashAttentionScoreGrad::Problem& problem, std::uint64_t seed) {
  exact::Draws draws(stream(seed, Stream::sampling), 0x5ca1e);
  const std::int64_t width = problem.head_dim + problem.head_dim_rope;
  const int customary = (exact::bit_length(width) - 1) / 2;
  const auto sign = static_cast<double>(draws.one_in(4) ? -1 : 1);
  if (draws.one_in(4)) return sign * std::ldexp(3.0, -customary - 2);
  const int step = draws.one_in(2) ? 1 : -1;
  double scale = sign * std::ldexp(1.0, -customary - (draws.one_in(2) ? 0 : step));
  while (exact::is_customary(scale, problem)) scale /= 2;
  return scale;
}

}  // namespace assay::conformance
