#pragma once

#include <bit>
#include <cstdint>

#include "assay/conformance/attention/exact_case.hpp"
#include "assay/spec/numerics.hpp"
#include "assay/spec/operators/flash_attention_score_grad.hpp"

namespace assay::conformance::exact {

using Op = spec::FlashAttentionScoreGrad;

/// Returns the number of bits of a non-negative integer; 0 for 0.
constexpr int bit_length(std::int64_t value) {
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(value)));
}

/// The scale in integers: scale_value = sign * factor * 2^-shift.
struct Scale {
  std::int64_t sign = 1, factor = 1;
  int shift = 0;
};

inline constexpr double largest_fp16 = 65504;
/// One channel contains this many bits of a key position.
inline constexpr std::int64_t digit_bits = 4;

/// Identifies one key head of one sequence: b, kv, and the lengths.
struct KeyHead {
  std::int64_t b = 0, kv = 0, queries = 0, keys = 0;
};

/// How an exact case (every correct kernel computes the same bits) uses the position bias. flags:
/// pse_shift lowers some scores by 128. nearest: slopes are so steep that only the nearest keys
/// matter (the farthest, if the slope is negative). halved: a steep positive slope; products of
/// query and key cancel it on one side of the query, and double it on the other side. cancelled: a
/// gentle slope that such products cancel; all keys are on one side.
enum class BiasForm : std::uint8_t { none, flags, nearest, halved, cancelled };

/// The contents of the value tensor. own: random numbers that differ from those of key. key: the
/// numbers of key without the rope channels. merged: like key, and dk contains the sum of both
/// gradients, in any order of additions.
enum class ValueForm : std::uint8_t { own, key, merged };

/// Largest magnitudes of the random integers in an exact case (every correct kernel computes the
/// same bits).
struct Magnitudes {
  std::int64_t data = 63;           ///< data channels of query and key
  std::int64_t dy_shared = 1;       ///< dy where value is not 0, within dy_budget
  std::int64_t dy_only = 127;       ///< dy where value is 0 or cancels
  std::int64_t shared_per_row = 8;  ///< channels of dy_shared per row that are not 0
};

/// Counts, for each gradient, the attempts that failed because a sum needed too many bits. The
/// first failures halve the data of these sums, later ones halve dS, and the last ones set dy of
/// some rows to 0.
struct Thinning {
  int dq = 0, dk = 0, dv = 0;
};

/// The parameters from which the tensors of an exact case (every correct kernel computes the same
/// bits) are generated. They follow from the problem, the track (the test method) and the numerics
/// (the kernel's number formats and roundings).
struct ExactPlan {
  Op::Problem problem;
  spec::Numerics numerics;
  std::uint64_t seed = 1;
  Scale scale;
  Magnitudes magnitudes;
  std::int64_t code_bits = 0;  ///< largest number of bits in the code of a key
  std::int64_t raises = 0;     ///< channels in which a query compensates for its bias
  std::int64_t positions = 0;  ///< channels that hold the digits of a key's position
  std::int64_t parities = 0;   ///< channels that distinguish even keys from odd ones
  BiasForm bias = BiasForm::none;
  ValueForm value = ValueForm::own;
  int drop_shift = 0;                ///< keep_prob = 2^-drop_shift
  bool rope_carries = false;         ///< the rope channels hold as many code bits as fit
  std::int64_t shared_channels = 1;  ///< channels where both value and dy may be nonzero
  bool offsets = false;              ///< rows have maxima other than 0
  bool paired = false;               ///< data channels may come in pairs that cancel in the score
  bool odd_dy = false;               ///< track exact_staged: dy is odd where value is not 0
  bool staged_rounding = false;      ///< dS is rounded to numerics.stage
  bool unique_staging = false;       ///< a row with an exact tie in the staging is drawn again
  bool shifts_output = false;        ///< one key: attention_in is changed so that dS is not 0
  int operand_bits = 24;             ///< significant bits of dS that need no rounding
  int sum_bits = 24;                 ///< of the accumulator

  /// Returns the number of channels of query and key, including those of the rope tensors, which
  /// come last.
  std::int64_t width() const { return problem.head_dim + problem.head_dim_rope; }
};

/// Chooses the parameters of an exact case. Errors: NoExactCase if the case cannot be exact.
ExactPlan plan_of(const AttentionCase& c, const spec::Numerics& numerics,
                  ValueForm value = ValueForm::own);

/// Returns the exponent e such that all numbers of query and dq are integers times 2^e.
int query_exponent(const Scale& scale);

/// Returns the key position with bias distance 0 for query i of sequence b: i plus the difference
/// of the start indices.
std::int64_t centre_of(const Op::Problem& problem, std::int64_t b, std::int64_t i);

/// Returns whether a kernel may store a value in fp16, which has a small range.
bool has_fp16(const ExactPlan& plan);

/// Returns the largest allowed sum of |dy| for a row that attends to 2^k keys. The sum runs over
/// the channels in which value is not 0.
std::int64_t dy_budget(const ExactPlan& plan, int k);

}  // namespace assay::conformance::exact
