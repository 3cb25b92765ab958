#include <algorithm>
#include <cmath>

#include "flash_attention_score_grad/families.hpp"

namespace assay::mutants {
namespace {

bool has_slopes(const AttentionWork& w) { return !w.pse.empty() && w.problem.pse_type >= 2; }

struct SlopeSign : Kernel {
  float bias(const AttentionWork& w, Query q, std::int64_t j) const override {
    return has_slopes(w) ? -Kernel::bias(w, q, j) : Kernel::bias(w, q, j);
  }
};

/// Fault: uses `taken(slope)` instead of the slope that the caller passes.
template <float taken(float)>
struct SlopeTaken : Kernel {
  float bias(const AttentionWork& w, Query q, std::int64_t j) const override {
    const float bias = Kernel::bias(w, q, j);
    if (!has_slopes(w)) return bias;
    const float slope = w.pse[static_cast<std::size_t>(pse_element(w, q, j))];
    return slope == 0 ? bias : bias * (taken(slope) / slope);
  }
};

float magnitude(float slope) { return std::abs(slope); }
float positive_part(float slope) { return std::max(slope, 0.0F); }
float at_most_one(float slope) { return std::clamp(slope, -1.0F, 1.0F); }

/// Fault: uses the slope of the next head; the last head uses the slope of the first head.
struct SlopeOfNextHead : Kernel {
  std::int64_t pse_element(const AttentionWork& w, Query q, std::int64_t j) const override {
    const std::int64_t next = (q.n + 1) % w.problem.heads_q;
    return Kernel::pse_element(w, {q.b, has_slopes(w) ? next : q.n, q.i}, j);
  }
};

/// Fault: looks up the slope by the index of the key head instead of the query head.
struct SlopeOfKeyHead : Kernel {
  std::int64_t pse_element(const AttentionWork& w, Query q, std::int64_t j) const override {
    const std::int64_t key_head = q.n / w.problem.group();
    return Kernel::pse_element(w, {q.b, has_slopes(w) ? key_head : q.n, q.i}, j);
  }
};

struct SlopeOfFirstHead : Kernel {
  std::int64_t pse_element(const AttentionWork& w, Query q, std::int64_t j) const override {
    return Kernel::pse_element(w, {q.b, has_slopes(w) ? 0 : q.n, q.i}, j);
  }
};

/// Fault: stores biases and slopes of only 32 heads. Heads from 32 on use the values of the heads
/// 0, 1, ...
struct BiasOfHeadIn5Bits : Kernel {
  std::int64_t pse_element(const AttentionWork& w, Query q, std::int64_t j) const override {
    return Kernel::pse_element(w, {q.b, q.n % 32, q.i}, j);
  }
};

struct SquareRootMissing : Kernel {
  std::int64_t pse_type(const AttentionWork& w) const override {
    return w.problem.pse_type == 3 ? 2 : w.problem.pse_type;
  }
};

struct StartIgnored : Kernel {
  std::int64_t start_shift(const AttentionWork&, std::int64_t) const override { return 0; }
};

struct OnlyQueryStart : Kernel {
  std::int64_t start_shift(const AttentionWork& w, std::int64_t b) const override {
    const std::int64_t shift = Kernel::start_shift(w, b);
    return shift == 0 ? 0 : shift - w.problem.kv_start_idx[0];
  }
};

/// Fault: applies a start index even if the other start index is missing.
struct LoneStartCounts : Kernel {
  std::int64_t start_shift(const AttentionWork& w, std::int64_t b) const override {
    const Op::Problem& p = w.problem;
    if (p.q_start_idx.empty() == p.kv_start_idx.empty()) return Kernel::start_shift(w, b);
    return p.q_start_idx.empty() ? p.kv_start_idx[0] : -p.q_start_idx[0];
  }
};

/// Fault: rounds distances to fp16, which is exact only for integers up to 2048.
struct DistanceInFp16 : Kernel {
  float distance(const AttentionWork& w, Query q, std::int64_t j) const override {
    return rounded(Kernel::distance(w, q, j), spec::DType::fp16, spec::Rounding::rne);
  }
};

/// Fault: clamps distances to the last distance in a table of 2048.
struct DistanceOfATable : Kernel {
  float distance(const AttentionWork& w, Query q, std::int64_t j) const override {
    return std::min(Kernel::distance(w, q, j), 2047.0F);
  }
};

/// Fault: stores distances in 16 bits.
struct DistanceIn16Bits : Kernel {
  float distance(const AttentionWork& w, Query q, std::int64_t j) const override {
    const auto far = static_cast<std::int64_t>(Kernel::distance(w, q, j));
    return static_cast<float>(std::abs(std::int64_t{static_cast<std::int16_t>(far)}));
  }
};

struct StartInEverySequence : Kernel {
  std::int64_t start_shift(const AttentionWork& w, std::int64_t) const override {
    return Kernel::start_shift(w, 0);
  }
};

/// Fault: if pse_type is `given`, computes as if it were `taken`. (pse_type is the kind of position
/// bias.)
template <std::int64_t given, std::int64_t taken>
struct PseTypeTaken : Kernel {
  std::int64_t pse_type(const AttentionWork& w) const override {
    return w.problem.pse_type == given ? taken : w.problem.pse_type;
  }
};

/// Returns whether the position bias of all sequences is packed in one axis without gaps.
bool is_in_one_axis(const AttentionWork& w) {
  return w.problem.pse_shift == spec::PseShape::packed_bn1s ||
         w.problem.pse_shift == spec::PseShape::packed_bnss;
}

struct PseIgnored : Kernel {
  float bias(const AttentionWork&, Query, std::int64_t) const override { return 0; }
};

struct PseOfFirstHead : Kernel {
  std::int64_t pse_element(const AttentionWork& w, Query q, std::int64_t j) const override {
    return Kernel::pse_element(w, {q.b, has_slopes(w) ? q.n : 0, q.i}, j);
  }
};

struct PseOfFirstBatch : Kernel {
  std::int64_t pse_element(const AttentionWork& w, Query q, std::int64_t j) const override {
    return Kernel::pse_element(w, {is_in_one_axis(w) ? q.b : 0, q.n, q.i}, j);
  }
};

/// Fault: reads a full bias of packed sequences as if all its scores were packed in one axis
/// without gaps.
struct FullPseAsPacked : Kernel {
  std::int64_t pse_element(const AttentionWork& w, Query q, std::int64_t j) const override {
    const Op::Problem& p = w.problem;
    if (!is_packed(p.input_layout) || p.pse_shift != spec::PseShape::bnss)
      return Kernel::pse_element(w, q, j);
    return w.first_score[static_cast<std::size_t>(q.b)] +
           (q.n * p.length_q(q.b) + q.i) * p.length_kv(q.b) + j;
  }
};

/// Fault: in a bias that all sequences share, uses the sequence's own number of keys as the row
/// stride.
struct SharedPseRowsOfOwnLength : Kernel {
  std::int64_t pse_element(const AttentionWork& w, Query q, std::int64_t j) const override {
    const Op::Problem& p = w.problem;
    if (p.pse_shift != spec::PseShape::one_nss) return Kernel::pse_element(w, q, j);
    return q.n * p.seq_q * p.seq_kv + q.i * p.length_kv(q.b) + j;
  }
};

/// Fault: in a bias with a single row, counts the keys from the first token of the packed tensor
/// instead of the first token of the sequence.
struct SingleRowByToken : Kernel {
  std::int64_t pse_element(const AttentionWork& w, Query q, std::int64_t j) const override {
    const Op::Problem& p = w.problem;
    if (!is_packed(p.input_layout) || p.pse_shift != spec::PseShape::bn1s)
      return Kernel::pse_element(w, q, j);
    return (q.n * p.seq_kv + w.key.extents.start(q.b) + j) %
           static_cast<std::int64_t>(w.pse.size());
  }
};

/// Fault: reads the single row of each head at the offset that row 0 would have in a full bias.
struct SingleRowAtFullDistance : Kernel {
  std::int64_t pse_element(const AttentionWork& w, Query q, std::int64_t j) const override {
    const Op::Problem& p = w.problem;
    if (p.pse_shift != spec::PseShape::bn1s) return Kernel::pse_element(w, q, j);
    const std::int64_t element = (q.b * p.heads_q + q.n) * p.seq_q * p.seq_kv + j;
    return element % static_cast<std::int64_t>(w.pse.size());
  }
};

struct CompressedPseRowOff : Kernel {
  std::int64_t compressed_pse_element(const AttentionWork& w, Query q,
                                      std::int64_t j) const override {
    return Kernel::compressed_pse_element(w, {q.b, q.n, q.i - 1}, j);
  }
};

/// Fault: applies the rows of the compressed bias to the first queries instead of the last queries.
struct CompressedPseFromFirst : Kernel {
  std::int64_t compressed_pse_element(const AttentionWork& w, Query q,
                                      std::int64_t j) const override {
    return q.i % spec::compressed_pse_rows * w.problem.seq_kv + j;
  }
};

}  // namespace

std::vector<Mutant> pse_mutants() {
  return {
      injected<SlopeSign>(
          "slope_sign", "slope times distance is added to the score, not subtracted", ascend_like),
      injected<SlopeTaken<magnitude>>(
          "slope_magnitude", "a negative slope is replaced by its absolute value", ascend_like),
      injected<SlopeTaken<positive_part>>("slope_positive_part",
                                          "a negative slope is replaced by 0"),
      injected<SlopeTaken<at_most_one>>("slope_at_most_one", "slopes above 1 are replaced by 1",
                                        ascend_like),
      injected<SlopeOfFirstHead>("slope_of_first_head", "every head has the slope of head 0"),
      injected<BiasOfHeadIn5Bits>("bias_of_head_in_5_bits",
                                  "head 32 uses the bias or the slope of head 0"),
      injected<SlopeOfNextHead>("slope_of_next_head", "every head uses the slope of the next head",
                                ascend_like),
      injected<SlopeOfKeyHead>("slope_of_key_head",
                               "query heads have the slopes of their key head"),
      injected<SquareRootMissing>("square_root_missing",
                                  "pse_type 3 uses the distance without the square root"),
      injected<StartIgnored>("start_ignored", "distances ignore the start indices", ascend_like),
      injected<OnlyQueryStart>("only_query_start", "distances ignore kv_start_idx"),
      injected<DistanceInFp16>("distance_in_fp16", "distances are rounded to fp16"),
      injected<DistanceOfATable>("distance_of_a_table",
                                 "distances above 2047 are replaced by 2047"),
      injected<DistanceIn16Bits>("distance_in_16_bits", "distances are stored in 16 bits"),
      injected<LoneStartCounts>(
          "lone_start_counts",
          "one start index is applied although the other start index is not given"),
      injected<StartInEverySequence>("start_in_every_sequence",
                                     "start indices of mode 8 apply to every sequence",
                                     ascend_like),
      injected<PseTypeTaken<0, 1>>("pse_type_0_as_1", "pse_type 0 adds the bias before scaling"),
      injected<PseTypeTaken<1, 0>>("pse_type_1_as_0", "pse_type 1 scales before adding the bias",
                                   ascend_like),
      injected<PseIgnored>("pse_ignored", "no position bias is added to the scores"),
      injected<PseOfFirstHead>("pse_of_first_head", "every head has the bias of head 0"),
      injected<PseOfFirstBatch>("pse_of_first_batch", "every batch has the bias of batch 0",
                                ascend_like),
      injected<FullPseAsPacked>("full_pse_as_packed",
                                "a BNSS bias of TND is read sequence by sequence without gaps"),
      injected<SharedPseRowsOfOwnLength>("shared_pse_rows_of_own_length",
                                         "rows of a 1NSS bias of TND are read with stride Skv(b)",
                                         ascend_like),
      injected<SingleRowByToken>(
          "single_row_by_token",
          "in TND the keys of a BN1S bias are counted from the first token of all sequences"),
      injected<SingleRowAtFullDistance>(
          "single_row_at_full_distance",
          "in a BN1S bias the head stride is seq_q rows instead of one row"),
      injected<CompressedPseRowOff>("compressed_pse_row_off",
                                    "the compressed bias is read one row too early", ascend_like),
      injected<CompressedPseFromFirst>("compressed_pse_from_first",
                                       "the compressed bias is applied to the first queries"),
  };
}

}  // namespace assay::mutants
