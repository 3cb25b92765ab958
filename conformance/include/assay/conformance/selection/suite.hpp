#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/conformance/suite.hpp"
#include "assay/spec/operators/selection.hpp"

namespace assay::conformance {

/// Returns the patterns for topk_indices: shuffled, identity, duplicates, ...
std::span<const InputProfile> list_patterns();

/// Returns the block lists (topk_indices) of the case. The pattern `c.patterns.lists` determines
/// their contents, and the strides are those of the inputs. Every index names a complete block of
/// its query's sequence. With the causal mask, every query sees at least one key of its list.
template <class Op>
spec::Tensor make_topk_indices(const Case<Op>& c);

/// Returns the mask of the case: the causal triangle in sparse mode 2, zeros in mode 0. Returns
/// nothing if the problem does not have a mask.
template <class Op>
std::optional<spec::Tensor> make_causal_mask(const Case<Op>& c);

namespace selection {

/// Patterns for tensors that the input profile (the distribution of values) does not fill: the
/// block lists.
struct Patterns {
  std::string lists = "shuffled";  ///< which blocks the queries list

  friend bool operator==(const Patterns&, const Patterns&) = default;
};

/// The common part of the test suites for block-selected attention and its gradient.
/// selection/traits.hpp lists the members that an operator must add.
template <class Op>
struct SuiteOf : SuiteDefaults<Op> {
  using Problem = spec::SelectionProblem;
  using Patterns = selection::Patterns;

  static std::span<const PatternField<Op>> patterns();
  static std::span<const InputProfile> profiles();
  static std::span<const FieldRange> field_ranges();
  static void require_possible(const Case<Op>& c);

  static void collect(const SamplingPlan& plan, CaseCollector<Op>& cases);
  static const Axes* axes();
  static std::vector<std::size_t> choice_of(const Case<Op>& c);
  static std::vector<Size> sizes(const Case<Op>& c);
  static std::span<const FormulaField<Op>> formula_fields();
  /// Returns the approximate cost of one run (multiply-adds).
  static double multiply_adds(const Problem& problem);
  static double expected_cost(const Case<Op>& c);
  /// Returns the number of elements of query and key, over all heads.
  static std::int64_t tensor_elements(const Problem& problem);

  static std::span<const Reduction<Op>> reductions();
  static std::span<const std::string_view> fields_of_reductions();
};

}  // namespace selection
}  // namespace assay::conformance
