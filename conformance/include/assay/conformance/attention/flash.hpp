#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/conformance/suite.hpp"
#include "assay/spec/attention_problem.hpp"
#include "assay/spec/call.hpp"

/// The common parts of the test suites for attention operators with a mask: the mask defines which
/// query attends to which key.
namespace assay::conformance {
namespace attention::flash {

/// Patterns for tensors that the input profile (the distribution of values) does not fill: mask,
/// dropout bits and sink.
struct Patterns {
  std::string mask = "random";     ///< of a user mask
  std::string drop = "random";     ///< of the dropout bits
  std::string sink_size = "near";  ///< of the sink, compared with the maxima of the rows

  friend bool operator==(const Patterns&, const Patterns&) = default;
};

/// Returns the patterns for user masks: random, causal, dead_rows, ...
std::span<const InputProfile> mask_patterns();
/// Returns the patterns for dropout bits: random, whole_rows, last_bits, all_kept, all_dropped.
std::span<const InputProfile> drop_patterns();

/// Returns the patterns for sinks: near, minus_10, plus_10, ...
std::span<const InputProfile> sink_patterns();

/// Return the tensor that `parameter` describes, or nothing if the problem has no such tensor.
/// mask_of: see make_mask; pse_of: see make_pse; drop_mask_of: see make_drop_mask.
std::optional<spec::Tensor> mask_of(const spec::Parameter& parameter,
                                    const spec::AttentionProblem& problem,
                                    const std::string& pattern, std::uint64_t seed);
std::optional<spec::Tensor> pse_of(const spec::Parameter& parameter,
                                   const spec::AttentionProblem& problem,
                                   const std::string& profile, std::uint64_t seed);
std::optional<spec::Tensor> drop_mask_of(const spec::Parameter& parameter,
                                         const spec::AttentionProblem& problem,
                                         const std::string& pattern, std::uint64_t seed);

/// Returns the sink tensor. The sink of a query head is the median of its row maxima (computed
/// without a sink), plus a distance that the pattern defines and a random number. `maxima`: in the
/// order of Extents::row. Shapes: (heads_q). Errors: std::invalid_argument for an unknown pattern.
spec::Tensor sink_of(const spec::Parameter& parameter, const spec::AttentionProblem& problem,
                     const std::string& pattern, std::uint64_t seed,
                     std::span<const double> maxima);

template <class Op>
class RelationPartsOf;

/// The part of a test suite that attention operators with a mask share. attention/flash/traits.hpp
/// lists the members that an operator must add.
template <class Op>
struct SuiteOf : SuiteDefaults<Op> {
  using Problem = typename Op::Problem;
  using EntryPoint = typename Op::EntryPoint;
  using Patterns = flash::Patterns;

  static std::span<const PatternField<Op>> patterns();
  static std::span<const InputProfile> profiles();
  static std::span<const FieldRange> field_ranges();
  /// Checks the fields of a case. Also rejects fields that the entry point does not have as a
  /// parameter.
  static void require_possible(const Case<Op>& c);
  static void settle_extents(Problem& problem, const std::function<bool(std::string_view)>& given);
  static void imply_extents(const Problem& given, Problem& implied);

  static Problem as_declared(const Problem& problem, EntryPoint entry_point,
                             const spec::Numerics& numerics);
  static Fact place_of_inputs(const Problem& problem);
  static std::vector<OtherReading> other_readings(const Case<Op>& c,
                                                  const spec::Numerics& numerics);
  static std::optional<Case<Op>> small_call(const Case<Op>& c);

  static void collect(const SamplingPlan& plan, CaseCollector<Op>& cases);
  static const Axes* axes();
  static std::vector<std::size_t> choice_of(const Case<Op>& c);
  static std::vector<Size> sizes(const Case<Op>& c);
  static std::span<const FormulaField<Op>> formula_fields();
  static double expected_cost(const Case<Op>& c);
  /// Returns the number of elements of query and key, over all heads.
  static std::int64_t tensor_elements(const Problem& problem);

  static std::span<const Reduction<Op>> reductions();
  static std::span<const std::string_view> fields_of_reductions();
};

}  // namespace attention::flash
namespace flash = attention::flash;

/// Returns the mask of the case, with the strides of its inputs. In mode 0 it contains the pattern
/// `c.patterns.mask`, and also masks all pairs outside pre_tokens and next_tokens. In mode 5 it
/// contains only the prefix. In compressed modes it is the canonical compressed mask. Returns
/// nothing if the problem does not have a mask.
template <class Op>
std::optional<spec::Tensor> make_mask(const Case<Op>& c) {
  const auto call = call_of(c.problem, c.entry_point, c.product, c.inputs, c.outputs);
  return flash::mask_of(call.parameters.atten_mask, c.problem, c.patterns.mask, c.seed);
}

/// Returns the position bias of the case. Its values are random, with the distribution of the input
/// profile, and about as large as the scores. In the shapes with 1024 rows it depends only on i -
/// j; slopes are positive or negative. Returns nothing if the problem does not have a bias.
template <class Op>
std::optional<spec::Tensor> make_pse(const Case<Op>& c) {
  const auto call = call_of(c.problem, c.entry_point, c.product, c.inputs, c.outputs);
  return flash::pse_of(call.parameters.pse_shift, c.problem, c.profile, c.seed);
}

/// Returns the dropout bits of the case, from the pattern `c.patterns.drop`. A bit of 1 keeps the
/// pair. Bits and bytes after the last score contain the guard pattern. Returns nothing if the
/// problem does not have a drop mask.
template <class Op>
std::optional<spec::Tensor> make_drop_mask(const Case<Op>& c) {
  const auto call = call_of(c.problem, c.entry_point, c.product, c.inputs, c.outputs);
  return flash::drop_mask_of(call.parameters.drop_mask, c.problem, c.patterns.drop, c.seed);
}

}  // namespace assay::conformance
