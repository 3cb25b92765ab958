#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/conformance/attention/exact_case.hpp"
#include "assay/conformance/suite.hpp"
#include "assay/spec/operators/nsa_selected_attention_grad.hpp"

namespace assay::conformance {

/// The names of the patterns for topk_indices: shuffled, identity, duplicates, ...
std::span<const InputProfile> list_patterns();

/// The block lists (topk_indices) of the case, from the pattern `c.patterns.lists`, with the
/// strides of its inputs. Every index names a complete block of its query's sequence. Under the
/// causal mask, every query sees at least one key of a block in its list.
spec::Tensor make_topk_indices(const Case<spec::NsaSelectedAttentionGrad>& c);

/// The mask of the case: the triangle of sparse mode 2, or zeros in mode 0. Returns nothing if the
/// problem does not have a mask.
std::optional<spec::Tensor> make_mask(const Case<spec::NsaSelectedAttentionGrad>& c);

/// A case whose correct outputs are known exactly, in any order of summation.
struct SelectedExactCase {
  spec::NsaSelectedAttentionGrad::Inputs inputs;
  AttentionExactCase dense;  ///< the same case as attention to the listed keys
};

namespace selected {
class Basis;
struct RelationParts;
}  // namespace selected

/// Attention to selected blocks. It uses the code of attention, with block lists in place of the
/// mask.
template <>
struct Suite<spec::NsaSelectedAttentionGrad> : SuiteDefaults<spec::NsaSelectedAttentionGrad> {
  using Op = spec::NsaSelectedAttentionGrad;
  using Basis = selected::Basis;
  using RelationParts = selected::RelationParts;
  using Exact = SelectedExactCase;

  /// Contents that the input profile does not determine: the block lists.
  struct Patterns {
    std::string lists = "shuffled";  ///< which blocks the queries list

    friend bool operator==(const Patterns&, const Patterns&) = default;
  };
  static std::span<const PatternField<Op>> patterns();

  /// Also runs the forward pass: its results, rounded as the operator stores them, are the inputs
  /// statistics and attention_out.
  static Op::Inputs draw(const Case<Op>& c);
  static std::span<const InputProfile> profiles();
  static std::span<const FieldRange> field_ranges();
  static void require_possible(const Case<Op>& c);

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
};

}  // namespace assay::conformance
