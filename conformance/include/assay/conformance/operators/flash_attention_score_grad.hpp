#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/conformance/attention/exact_case.hpp"
#include "assay/conformance/suite.hpp"
#include "assay/spec/operators/flash_attention_score_grad.hpp"

namespace assay::conformance {

/// Named contents of user masks: random, causal, dead_rows, ...
std::span<const InputProfile> mask_patterns();
/// Named contents of dropout bits: random, whole_rows, last_bits, all_kept, all_dropped.
std::span<const InputProfile> drop_patterns();

/// The mask that the case passes, strided as its inputs: the pattern `c.patterns.mask`, closed
/// outside pre_tokens and next_tokens in mode 0; in mode 5 the prefix alone; or the canonical
/// compressed mask. Nothing where the problem has no mask.
std::optional<spec::Tensor> make_mask(const Case<spec::FlashAttentionScoreGrad>& c);

/// The position bias that the case passes: numbers of its input profile as large as the scores to
/// which they are added, in the shapes of 1024 rows a function of i - j alone, or slopes of
/// either sign. Nothing where the problem has none.
std::optional<spec::Tensor> make_pse(const Case<spec::FlashAttentionScoreGrad>& c);

/// The dropout bits that the case passes, the pattern `c.patterns.drop`: 1 keeps. Bits and bytes
/// behind the last score hold the guard pattern. Nothing where the problem has no drop mask.
std::optional<spec::Tensor> make_drop_mask(const Case<spec::FlashAttentionScoreGrad>& c);

/// The exact case with the mask tensor as an argument; nothing: no mask. Errors: NoExactCase.
AttentionExactCase make_exact_case_with_mask(const Case<spec::FlashAttentionScoreGrad>& c,
                                             const spec::Numerics& numerics,
                                             std::optional<spec::Tensor> atten_mask,
                                             ExactPart part = ExactPart::all);

namespace attention::flash {
class Basis;
struct RelationParts;
}  // namespace attention::flash
namespace flash = attention::flash;

/// Attention in all layouts, with every mask, bias and dropout of the documents.
template <>
struct Suite<spec::FlashAttentionScoreGrad> : SuiteDefaults<spec::FlashAttentionScoreGrad> {
  using Op = spec::FlashAttentionScoreGrad;
  using Basis = flash::Basis;
  using RelationParts = flash::RelationParts;
  using Exact = AttentionExactCase;

  /// What a profile leaves open: the contents of mask and dropout bits.
  struct Patterns {
    std::string mask = "random";  ///< of a user mask
    std::string drop = "random";  ///< of the dropout bits

    friend bool operator==(const Patterns&, const Patterns&) = default;
  };
  static std::span<const PatternField<Op>> patterns();

  /// Forward included: statistics and attention_in are what a forward of the reference computes,
  /// rounded as the operator stores them.
  static Op::Inputs draw(const Case<Op>& c);
  static std::span<const InputProfile> profiles();
  static std::span<const FieldRange> field_ranges();
  /// Refuses also what the entry point has no parameter for.
  static void require_possible(const Case<Op>& c);
  static void settle_extents(Op::Problem& problem,
                             const std::function<bool(std::string_view)>& given);
  static void imply_extents(const Op::Problem& given, Op::Problem& implied);

  static Op::Problem as_declared(const Op::Problem& problem, spec::FlashEntryPoint entry_point,
                                 const spec::Numerics& numerics);
  static Op::Inputs moved(const Op::Problem& problem, const Op::Problem& other,
                          const Op::Inputs& inputs);
  static std::string place_of_inputs(const Op::Problem& problem);
  static std::vector<OtherReading> other_readings(const Case<Op>& c,
                                                  const spec::Numerics& numerics);
  static std::optional<Case<Op>> small_call(const Case<Op>& c);

  static void collect(const SamplingPlan& plan, CaseCollector<Op>& cases);
  static const Axes* axes();
  static std::vector<std::size_t> choice_of(const Case<Op>& c);
  static std::vector<Size> sizes(const Case<Op>& c);
  static std::span<const FormulaField<Op>> formula_fields();
  static bool has_other_gradients(const Case<Op>& c, const Op::Problem& changed);
  /// Of one backward, roughly.
  static double multiply_adds(const Op::Problem& problem);
  static double expected_cost(const Case<Op>& c);
  /// Elements of query and key of all heads.
  static std::int64_t tensor_elements(const Op::Problem& problem);

  static std::span<const Reduction<Op>> reductions();
  static std::span<const std::string_view> fields_of_reductions();

  static Exact exact(const Case<Op>& c, const spec::Numerics& numerics,
                     ExactPart part = ExactPart::all);
  static std::vector<ExactTensor> exact_tensors(const Exact& exact_case,
                                                const Op::Problem& problem);
  static void compare_exact(const Exact& exact_case, const Op::Problem& problem,
                            const Op::Outputs& outputs, const spec::Numerics& numerics,
                            CaseReport& report);

  static Intermediates intermediates(const Op::Problem& problem, const Op::Inputs& inputs);

  static std::vector<RelationText> relations();
  static CaseReport judge_relation(const Case<Op>& c, spec::Implementation<Op>& kernel);
};

}  // namespace assay::conformance
