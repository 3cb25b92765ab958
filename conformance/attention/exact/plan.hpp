#pragma once

#include <bit>
#include <cstdint>

#include "assay/conformance/attention/exact_case.hpp"
#include "assay/spec/numerics.hpp"
#include "assay/spec/operators/flash_attention_score_grad.hpp"

namespace assay::conformance::exact {

using Op = spec::FlashAttentionScoreGrad;

/// Bits that a non-negative integer needs; 0 for 0.
constexpr int bit_length(std::int64_t value) {
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(value)));
}

/// scale_value = sign * factor * 2^-shift.
struct Scale {
  std::int64_t sign = 1, factor = 1;
  int shift = 0;
};

inline constexpr double largest_fp16 = 65504;
/// Bits of a key's position that one channel holds.
inline constexpr std::int64_t digit_bits = 4;

/// One key head of one sequence.
struct KeyHead {
  std::int64_t b = 0, kv = 0, queries = 0, keys = 0;
};

/// What the position bias does. flags: an outer tensor lowers some scores by 128; nearest: slopes
/// so steep that only the nearest keys stand out, or the farthest where it is negative; halved: the
/// products carry the opposite of a steep positive slope, which lowers the keys on one side of the
/// query twice; cancelled: the same of a gentle slope, where all keys lie on one side.
enum class BiasForm : std::uint8_t { none, flags, nearest, halved, cancelled };

/// Largest magnitudes of the random integers.
struct Magnitudes {
  std::int64_t data = 63;           ///< data channels of query and key
  std::int64_t dy_shared = 1;       ///< dy where value is not 0, as far as dy_budget allows
  std::int64_t dy_only = 127;       ///< dy where value is 0 or cancels
  std::int64_t shared_per_row = 8;  ///< channels of dy in the former class that are not 0
};

/// How often each kind of sum was too long: its data are halved, then dS, then rows are muted.
struct Thinning {
  int dq = 0, dk = 0, dv = 0;
};

/// Everything about an exact case that its type, track and numerics decide.
struct ExactPlan {
  Op::Problem problem;
  spec::Numerics numerics;
  std::uint64_t seed = 1;
  Scale scale;
  Magnitudes magnitudes;
  std::int64_t code_bits = 0;  ///< of the keys' code words, at most
  std::int64_t raises = 0;     ///< channels in which a query makes up for its bias
  std::int64_t positions = 0;  ///< channels that hold the digits of a key's position
  std::int64_t parities = 0;   ///< channels that tell even keys from odd ones
  BiasForm bias = BiasForm::none;
  int drop_shift = 0;                ///< keep_prob = 2^-drop_shift
  bool rope_carries = false;         ///< the rope channels spell the codes as far as they go
  std::int64_t shared_channels = 1;  ///< in which both value and dy may be other than 0
  bool offsets = false;              ///< rows have maxima other than 0
  bool paired = false;               ///< data channels may come in pairs that cancel in the score
  bool odd_dy = false;               ///< track exact_staged: dy odd where value is not 0
  bool staged_rounding = false;      ///< dS is rounded to numerics.stage
  bool unique_staging = false;       ///< rows with an exact tie in the staging are drawn again
  bool shifts_output = false;  ///< one key: attention_in is not the forward's, so that dS is not 0
  int operand_bits = 24;       ///< significand of dS that needs no rounding
  int sum_bits = 24;           ///< of the accumulator

  /// Channels of query and key, those of the rope tensors last.
  std::int64_t width() const { return problem.head_dim + problem.head_dim_rope; }
};

/// Errors: NoExactCase.
ExactPlan plan_of(const AttentionCase& c, const spec::Numerics& numerics);

/// Query and its gradient are integers times 2^query_exponent.
int query_exponent(const Scale& scale);

/// The position on the key side that is nearest to query i of sequence b: start indices move it.
std::int64_t centre_of(const Op::Problem& problem, std::int64_t b, std::int64_t i);

/// Whether a value may be kept in fp16, whose range is short.
bool has_fp16(const ExactPlan& plan);

/// Largest sum of |dy| over the channels of a row in which value is not 0, for 2^k attended keys.
std::int64_t dy_budget(const ExactPlan& plan, int k);

}  // namespace assay::conformance::exact
