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

/// The names of the patterns for user masks: random, causal, dead_rows, ...
std::span<const InputProfile> mask_patterns();
/// The names of the patterns for dropout bits: random, whole_rows, last_bits, all_kept,
/// all_dropped.
std::span<const InputProfile> drop_patterns();

/// The mask of the case, with the strides of its inputs. Mode 0: the pattern `c.patterns.mask`;
/// everything outside pre_tokens and next_tokens is masked. Mode 5: only the prefix. Compressed
/// modes: the standard compressed mask. Returns nothing if the problem has no mask.
std::optional<spec::Tensor> make_mask(const Case<spec::FlashAttentionScoreGrad>& c);

/// The position bias of the case. Its values come from the input profile and are as large as the
/// scores. In the shapes with 1024 rows it depends only on i - j; slopes are positive or negative.
/// Returns nothing if the problem does not have a bias.
std::optional<spec::Tensor> make_pse(const Case<spec::FlashAttentionScoreGrad>& c);

/// The dropout bits of the case, from the pattern `c.patterns.drop`. 1 keeps the pair. Bits and
/// bytes after the last score contain the guard pattern. Returns nothing if the problem does not
/// have a drop mask.
std::optional<spec::Tensor> make_drop_mask(const Case<spec::FlashAttentionScoreGrad>& c);

/// The exact case with this mask tensor, or without a mask. Errors: NoExactCase.
AttentionExactCase make_exact_case_with_mask(const Case<spec::FlashAttentionScoreGrad>& c,
                                             const spec::Numerics& numerics,
                                             std::optional<spec::Tensor> atten_mask,
                                             ExactPart part = ExactPart::all);

namespace attention::flash {
class Basis;
struct RelationParts;
}  // namespace attention::flash
namespace flash = attention::flash;

/// The operator supports all layouts, masks, biases and dropouts of the documentation.
template <>
struct Suite<spec::FlashAttentionScoreGrad> : SuiteDefaults<spec::FlashAttentionScoreGrad> {
  using Op = spec::FlashAttentionScoreGrad;
  using Basis = flash::Basis;
  using RelationParts = flash::RelationParts;
  using Exact = AttentionExactCase;

  /// Contents that the input profile does not determine: mask and dropout bits.
  struct Patterns {
    std::string mask = "random";  ///< of a user mask
    std::string drop = "random";  ///< of the dropout bits

    friend bool operator==(const Patterns&, const Patterns&) = default;
  };
  static std::span<const PatternField<Op>> patterns();

  /// Also runs the forward pass: its results, rounded as the operator stores them, are the inputs
  /// statistics and attention_in.
  static Op::Inputs draw(const Case<Op>& c);
  static std::span<const InputProfile> profiles();
  static std::span<const FieldRange> field_ranges();
  /// Also rejects fields for which the entry point does not have a parameter.
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
  static bool has_other_outputs(const Op::Problem& problem, const Op::Problem& changed,
                                const Op::Inputs& inputs);
  /// Approximate cost of one backward pass (multiply-adds).
  static double multiply_adds(const Op::Problem& problem);
  static double expected_cost(const Case<Op>& c);
  /// Number of elements of query and key, over all heads.
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

  static CaseReport judge_relation(const Case<Op>& c, spec::Implementation<Op>& kernel);
};

}  // namespace assay::conformance
