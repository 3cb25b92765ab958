#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "assay/spec/text_enum.hpp"

namespace assay::conformance {

/// The statements that the judge can make about a call. The table in report/fact_text.hpp contains
/// the name and the sentence of each statement. {0}, {1} ... in a sentence show which values the
/// statement has.
enum class FactKind : std::uint8_t {
  none,
  quoted,     ///< another program's words
  several,    ///< only its parts
  explained,  ///< its second part explains the first
  // A kernel's conduct:
  phase_1_threw,
  phase_1_threw_no_exception,
  phase_2_threw,
  phase_2_threw_no_exception,
  fault_in_phase_1,
  input_modified,
  outputs_lost,
  output_replaced,
  second_run,
  no_second_run,
  // Calls and requirements:
  phase_1_accepted,
  phase_1_refused_legal,
  phase_1_refused_open,
  phase_2_refused_legal,
  phase_2_refused_open,
  broken_and_accepted,
  accepted_open,
  stated_only_upstream,
  requirement_is_open,
  not_offered_there,
  upstream_ignored,
  requirement_binds_not,
  not_offered,
  no_argument_checks,
  no_formulas,
  no_parts,
  // Statements about elements. Each of them begins with the eight values that fact_of(finding)
  // writes.
  not_finite,
  beyond_rigorous_bound,
  beyond_probable_bound,
  sum_beyond_rigorous_bound,
  sum_beyond_probable_bound,
  exactly_zero,
  zero_or_residue,
  exact_value,
  exact_tie,
  wrong_element,
  runs_differ,
  // Elements without values:
  storage_element,
  each_element,
  never_written,
  written_outside_view,
  nonzero_without_key,
  nonzero_without_query,
  nonzero_without_sequence,
  nonzero_without_window,
  infinite,
  differs_from_copy,
  // Partial gradients:
  rounded_partial_sum,
  statistics_of_part,
  row_term_of_part,
  mask_from_start,
  dropout_from_start,
  bias_from_start,
  other_part,
  // Statements about statistics and controls (wrong outputs on purpose), and reasons why a test
  // proves little:
  nothing_found,
  nothing_compared,
  rms_too_large,
  bias_too_large,
  uncertified,
  control_missed,
  zeros_pass_in_heads,
  nothing_exceeds_tolerance,
  too_many_exempt,
  weak_numerics,
  inconsistent_inputs,
  inconsistent_runs,
  fresh_seed_undecided,
  fails_on_fresh_seed,
  passes_on_fresh_seeds,
  failure_not_repeated,
  judge_failed,
  metrics_left_out,
  regimes_ignored,
  reported_twice,
  named_value,  ///< a number that becomes a field of the report
  // Statements about a memory order, if the documents contradict each other about this order:
  tokens_first,
  heads_first,
  statistics_read,
  statistics_written,
  statistics_passed,
  statistics_expected,
  conforms_otherwise,
  conforms_but_not_small_call,
  // Relations and forwards:
  relation_domain,
  one_run,
  all_zero,
  too_large_to_relate,
  difference_on_fresh_seed,
  difference_not_repeated,
  related_run_refused,
  related_run_refused_open,
  related_run_failed,
  related_run_threw,
  related_run_threw_no_exception,
  no_forward,
  forward_modified_input,
  forward_wrote_elsewhere,
  replicas_differ,
  changed_forward_not_judged,
  // Statements about runs of a forward and its gradient:
  forward_wrong,
  saved_wrong,
  backward_wrong,
  pair_conforms,
  pair_with_saved_conforms,
  pair_undecided,
  pair_undecided_because,
  forward_gave_nothing,
  saved_not_finite,
  numerics_differ,
  // Files with outputs:
  file_without_numerics,
  inputs_of_file,
  inputs_of_other_numerics,
  inputs_in_other_order,
  conforms_if,
  may_conform_if,
  with_order_of_case,
};

using FactValue = std::variant<std::int64_t, double, std::string>;

/// A statement about a call, as data without words: report/sentences.hpp creates the sentence.
struct Fact {
  FactKind kind = FactKind::none;
  std::vector<FactValue> values = {};
  std::vector<Fact> parts = {};  ///< facts that the sentence contains

  Fact() = default;
  /// Creates a fact. Numbers, texts and enumerators become its values. Facts and lists of facts
  /// become members of its list `parts`.
  template <class... Values>
  Fact(FactKind what, const Values&... all) : kind(what) {
    (add(all), ...);
  }
  friend bool operator==(const Fact&, const Fact&) = default;

  bool empty() const { return kind == FactKind::none; }

 private:
  void add(const Fact& part) {
    if (!part.empty()) parts.push_back(part);
  }
  void add(const std::vector<Fact>& all) { parts.insert(parts.end(), all.begin(), all.end()); }
  template <class Value>
  void add(const Value& value) {
    if constexpr (spec::Spelled<Value>)
      values.emplace_back(std::string(spec::to_string(value)));
    else if constexpr (std::integral<Value>)
      values.emplace_back(static_cast<std::int64_t>(value));
    else if constexpr (std::floating_point<Value>)
      values.emplace_back(static_cast<double>(value));
    else
      values.emplace_back(std::string(value));
  }
};

}  // namespace assay::conformance
