#pragma once

#include <concepts>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "assay/conformance/case/case.hpp"
#include "assay/conformance/inputs/inputs.hpp"
#include "assay/conformance/judge/exact.hpp"
#include "assay/conformance/judge/examination.hpp"
#include "assay/spec/numerics.hpp"
#include "assay/spec/operators/flash_attention_score_grad.hpp"

namespace assay::conformance {

/// What a profile leaves open: the contents of mask and dropout bits.
template <>
struct Patterns<spec::FlashAttentionScoreGrad> {
  std::string mask = "random";  ///< of a user mask
  std::string drop = "random";  ///< of the dropout bits

  friend bool operator==(const Patterns&, const Patterns&) = default;
};

template <class PatternsOfOp, class Visitor>
requires std::same_as<std::remove_const_t<PatternsOfOp>, Patterns<spec::FlashAttentionScoreGrad>>
void visit_fields(PatternsOfOp& patterns, Visitor&& visit) {
  visit("mask", patterns.mask, "pattern of a user mask");
  visit("drop", patterns.drop, "pattern of the dropout bits");
}

/// Named contents of user masks: random, causal, dead_rows, ...
std::span<const InputProfile> mask_patterns();
/// Named contents of dropout bits: random, all_kept, all_dropped, last_bits.
std::span<const InputProfile> drop_patterns();

/// The mask that the case passes, strided as its inputs: the pattern `c.patterns.mask`, closed
/// outside pre_tokens and next_tokens in mode 0; in mode 5 the prefix alone; or the canonical
/// compressed mask. Nothing where the problem has no mask.
std::optional<spec::Tensor> make_mask(const Case<spec::FlashAttentionScoreGrad>& c);

/// The position bias that the case passes: numbers of its input profile as large as the scores to
/// which they are added, in the shapes of 1024 rows a function of i - j alone, or positive slopes.
/// Nothing where the problem has none.
std::optional<spec::Tensor> make_pse(const Case<spec::FlashAttentionScoreGrad>& c);

/// The dropout bits that the case passes, the pattern `c.patterns.drop`: 1 keeps. Bits and bytes
/// behind the last score hold the guard pattern. Nothing where the problem has no drop mask.
std::optional<spec::Tensor> make_drop_mask(const Case<spec::FlashAttentionScoreGrad>& c);

/// The tensors of a track B case, forward included: statistics and attention_in are what a forward
/// of the reference computes, rounded as the operator stores them; every one strided as the case
/// says.
spec::FlashAttentionScoreGrad::Inputs make_inputs(const Case<spec::FlashAttentionScoreGrad>& c);

/// Outputs with the case's striding whose storage, viewed elements included, holds a poison
/// pattern.
spec::FlashAttentionScoreGrad::Outputs make_outputs(const Case<spec::FlashAttentionScoreGrad>& c);

/// A case whose correct outputs are known exactly, whatever the order of summation.
struct LatticeCase {
  spec::FlashAttentionScoreGrad::Inputs inputs;
  /// Exact gradients before the final cast, rows x dim in the order of `query_rows` and `key_rows`.
  std::vector<Dyadic> dq, dk, dv;
  std::vector<Dyadic> dq_rope, dk_rope;  ///< empty if head_dim_rope is 0
  std::vector<std::int64_t> query_rows,
      key_rows;                 ///< judged rows, ascending numbers of `spec::Extents::row`
  std::int64_t muted_rows = 0;  ///< live query rows whose dy had to be 0
};

/// The exact gradients by their names, with their rows and channels.
std::vector<ExactTensor> exact_tensors(const LatticeCase& lattice,
                                       const spec::FlashAttentionScoreGrad::Problem& problem);

/// Builds the lattice case of track a1 or a2 for kernels of this profile.
/// Errors: std::runtime_error where no lattice exists for the problem, with the reason.
LatticeCase make_lattice(const Case<spec::FlashAttentionScoreGrad>& c,
                         const spec::NumericsProfile& numerics);

/// What the documents leave open about a legal call that breaks no row, so that its refusal
/// convicts nobody; else empty.
std::string open_reading(const Case<spec::FlashAttentionScoreGrad>& c);

/// Of one backward, roughly.
double multiply_adds(const spec::FlashAttentionScoreGrad::Problem& problem);

/// Rough cost of a case in seconds, for the time left; only ratios matter.
double expected_cost(const Case<spec::FlashAttentionScoreGrad>& c);

/// Elements of query and key of all heads.
std::int64_t tensor_elements(const spec::FlashAttentionScoreGrad::Problem& problem);

/// Judges a case of track relation: one of the operator's relations.
CaseReport examine_relation(const Case<spec::FlashAttentionScoreGrad>& c,
                            spec::Implementation<spec::FlashAttentionScoreGrad>& kernel);

}  // namespace assay::conformance
