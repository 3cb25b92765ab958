#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "assay/conformance/result/fact.hpp"
#include "assay/spec/text_enum.hpp"

namespace assay::conformance {

/// The texts for one type of fact (a statement as data): its word in files, and its sentence. {k}
/// in the sentence is replaced by value k of the fact. If the fact has n values, {n} is replaced by
/// the sentences of the facts that this fact contains.
struct FactText {
  FactKind kind;
  std::string_view word, sentence;
};

/// All types of facts (statements as data), in the order of the enumeration. Change a sentence here
/// to change the reports that people read.
inline constexpr std::array fact_texts = std::to_array<FactText>({
    {FactKind::none, "", ""},
    {FactKind::quoted, "quoted", "{0}"},
    {FactKind::several, "several", "{0}"},
    {FactKind::explained, "explained", "{0}"},

    {FactKind::phase_1_threw, "phase_1_threw", "phase 1 threw: {0}"},
    {FactKind::phase_1_threw_no_exception, "phase_1_threw_no_exception",
     "phase 1 threw something that is not a std::exception"},
    {FactKind::phase_2_threw, "phase_2_threw", "phase 2 threw: {0}"},
    {FactKind::phase_2_threw_no_exception, "phase_2_threw_no_exception",
     "phase 2 threw something that is not a std::exception"},
    {FactKind::fault_in_phase_1, "fault_in_phase_1", "phase 1: {0}"},
    {FactKind::input_modified, "input_modified", "the input {0} was modified"},
    {FactKind::outputs_lost, "outputs_lost", "an output was added or removed"},
    {FactKind::output_replaced, "output_replaced", "the output {0} was replaced by another tensor"},
    {FactKind::second_run, "second_run", "second run: {0}"},
    {FactKind::no_second_run, "no_second_run",
     "determinism not tested: the case is too large for a second run"},

    {FactKind::phase_1_accepted, "phase_1_accepted", "phase 1 accepted a legal call"},
    {FactKind::phase_1_refused_legal, "phase_1_refused_legal",
     "phase 1 refused a legal call with {0}: {1}"},
    {FactKind::phase_1_refused_open, "phase_1_refused_open",
     "phase 1 refused the call with {0}: {1}"},
    {FactKind::phase_2_refused_legal, "phase_2_refused_legal",
     "phase 2 refused a legal call: {0}: {1}"},
    {FactKind::phase_2_refused_open, "phase_2_refused_open",
     "phase 2 refused the call: {0}: {1}; {2}"},
    {FactKind::broken_and_accepted, "broken_and_accepted",
     "{0} is broken ({1}) and phase 1 accepted the call: {2}"},
    {FactKind::accepted_open, "accepted_open", "accepted; {0}"},
    {FactKind::stated_only_upstream, "stated_only_upstream",
     "stated only by the vendor's code: {0} ({1})"},
    {FactKind::requirement_is_open, "requirement_is_open", "{0}: {1} ({2})"},
    {FactKind::not_offered_there, "not_offered_there", "not offered there: {0} ({1})"},
    {FactKind::upstream_ignored, "upstream_ignored",
     "{0} is stated only by the vendor's code, which --upstream=off ignores: reported, no "
     "verdict"},
    {FactKind::requirement_binds_not, "requirement_binds_not", "{0} is {1}: reported, no verdict"},
    {FactKind::not_offered, "not_offered", "the implementation does not support this: {0}"},
    {FactKind::no_argument_checks, "no_argument_checks",
     "the implementation has no argument checks"},
    {FactKind::no_formulas, "no_formulas",
     "the implementation does not support formulas: it computes the documented attention. Judge a "
     "function in Python, or a program (docs/variants.md)"},
    {FactKind::no_parts, "no_parts",
     "the implementation computes only whole gradients. Judge a function in Python, or a program "
     "(docs/partial_gradients.md)"},

    {FactKind::not_finite, "not_finite",
     "{0}({1},{2},{3},{4}) is {5:.9g}, reference {6:.9g}, tau {7:.9g}: an infinity or NaN, or a "
     "finite value where an infinity is expected"},
    {FactKind::beyond_rigorous_bound, "beyond_rigorous_bound",
     "{0}({1},{2},{3},{4}) is {5:.9g}, reference {6:.9g}, tau {7:.9g}: beyond the rigorous bound: "
     "no kernel with the declared numerics has such an error"},
    {FactKind::beyond_probable_bound, "beyond_probable_bound",
     "{0}({1},{2},{3},{4}) is {5:.9g}, reference {6:.9g}, tau {7:.9g}: beyond the probabilistic "
     "bound"},
    {FactKind::sum_beyond_rigorous_bound, "sum_beyond_rigorous_bound",
     "the signed sum over rows {3} to {8} of {0}({1},{2},:,{4}) is {5:.9g}, reference {6:.9g}, "
     "tolerance {7:.9g}: beyond the rigorous bound: no kernel with the declared numerics has such "
     "an error"},
    {FactKind::sum_beyond_probable_bound, "sum_beyond_probable_bound",
     "the signed sum over rows {3} to {8} of {0}({1},{2},:,{4}) is {5:.9g}, reference {6:.9g}, "
     "tolerance {7:.9g}: beyond the probabilistic bound"},
    {FactKind::exactly_zero, "exactly_zero",
     "{0}({1}, {2}, {3}, {4}) is {5:.9g}; it must be exactly 0"},
    {FactKind::zero_or_residue, "zero_or_residue",
     "{0}({1}, {2}, {3}, {4}) is {5:.9g}; it must be 0 (residues of masked pairs up to {7:.9g} "
     "are accepted)"},
    {FactKind::exact_value, "exact_value",
     "{0}({1}, {2}, {3}, {4}) is {5:.9g}; the exact value is {8} * 2^{9}, which {10} rounds ({11}) "
     "to {6:.9g}"},
    {FactKind::exact_tie, "exact_tie",
     "{0}({1}, {2}, {3}, {4}) is {5:.9g}; the exact value is {8} * 2^{9}, which {10} rounds ({11}) "
     "to {6:.9g} or {12:.9g}"},
    {FactKind::wrong_element, "wrong_element", "{0}({1},{2},{3},{4}) {8}: {5:f}"},
    {FactKind::runs_differ, "runs_differ",
     "{0}({1},{2},{3},{4}) is {5:.9g}, the other runs give {6:.9g}; the allowed difference is "
     "{7:.9g}: {8}"},

    {FactKind::storage_element, "storage_element", "{0}: storage element {1} {2}"},
    {FactKind::each_element, "each_element", "{0}: each of {1} elements {2}"},
    {FactKind::never_written, "never_written", "was never written"},
    {FactKind::written_outside_view, "written_outside_view",
     "lies outside the view and was written"},
    {FactKind::nonzero_without_key, "nonzero_without_key",
     "is not zero although the query attends to no key"},
    {FactKind::nonzero_without_query, "nonzero_without_query",
     "is not zero although no query attends to the key"},
    {FactKind::nonzero_without_sequence, "nonzero_without_sequence",
     "is not zero although its token belongs to no sequence"},
    {FactKind::nonzero_without_window, "nonzero_without_window",
     "is not zero although no window covers it"},
    {FactKind::infinite, "infinite", "is not finite although nothing can overflow"},
    {FactKind::differs_from_copy, "differs_from_copy", "differs from the first of its copies"},

    {FactKind::rounded_partial_sum, "rounded_partial_sum",
     "all {1} elements of {0} are {2} numbers although few exact ones are: the kernel rounds the "
     "partial sum, to which other parts are added later; return it in fp32, unrounded"},
    {FactKind::statistics_of_part, "statistics_of_part",
     "the values of {0} are those of a softmax over the part alone: use softmax_max and "
     "softmax_sum as given; they contain all keys"},
    {FactKind::row_term_of_part, "row_term_of_part",
     "the values of {0} are those with a row term from the output of the part alone: use "
     "attention_in as given; it contains all keys"},
    {FactKind::mask_from_start, "mask_from_start",
     "the values of {0} are those with the mask of positions 0 to {1} instead of {2}: add the "
     "start of the part to the position"},
    {FactKind::dropout_from_start, "dropout_from_start",
     "the values of {0} are those with the dropout bits of positions 0 to {1} instead of {2}"},
    {FactKind::bias_from_start, "bias_from_start",
     "the values of {0} are those with the position bias of positions 0 to {1} instead of {2}"},
    {FactKind::other_part, "other_part",
     "the values of {0} are those of the part {1} instead of {2}"},

    {FactKind::nothing_found, "nothing_found", "no rule found a failure"},
    {FactKind::nothing_compared, "nothing_compared", "no element was compared"},
    {FactKind::rms_too_large, "rms_too_large",
     "the root mean square R of the errors of {0} is {1:f}, limit {2:f}"},
    {FactKind::bias_too_large, "bias_too_large",
     "the mean of the errors of {0} is {1:f} sigma (positive: away from zero; t = {2:f}), limit "
     "0.08"},
    {FactKind::uncertified, "uncertified",
     "{0} elements of {1} have a reference whose proven error (radius) exceeds 2^-10 tau, or a tau "
     "that is not finite"},
    {FactKind::control_missed, "control_missed", "{0}: a control was missed ({1})"},
    {FactKind::zeros_pass_in_heads, "zeros_pass_in_heads",
     "zeros would pass in {0} of {1} of {2} heads, e.g. ({3},{4}): in these heads no expected "
     "value exceeds its tolerance"},
    {FactKind::nothing_exceeds_tolerance, "nothing_exceeds_tolerance",
     "no expected value of this case exceeds its tolerance, so outputs of zeros would pass"},
    {FactKind::too_many_exempt, "too_many_exempt",
     "{0} of {1} judged elements are exempt: staged values may overflow; the limit is 1 %"},
    {FactKind::weak_numerics, "weak_numerics",
     "the declared numerics are weak by design: their bound proves little"},
    {FactKind::inconsistent_inputs, "inconsistent_inputs",
     "the softmax statistics or the attention output do not match the other inputs; the declared "
     "numerics require that they match"},
    {FactKind::inconsistent_runs, "inconsistent_runs",
     "in one of the runs the softmax statistics or the attention output do not match the other "
     "inputs; the declared numerics require that they match"},
    {FactKind::fresh_seed_undecided, "fresh_seed_undecided",
     "the fresh seed {0} could not confirm the failure: its verdict is {1}"},
    {FactKind::fails_on_fresh_seed, "fails_on_fresh_seed",
     "confirmed on the fresh seed {0} ({1}); false positives have a probability below 1e-9 per "
     "tensor and seed"},
    {FactKind::passes_on_fresh_seeds, "passes_on_fresh_seeds",
     "a statistical failure did not occur again with two fresh seeds; its probability for a "
     "correct kernel is below 1e-9"},
    {FactKind::failure_not_repeated, "failure_not_repeated",
     "a statistical failure did not occur again with two fresh seeds: {0}"},
    {FactKind::judge_failed, "judge_failed", "the judge failed: {0}"},
    {FactKind::metrics_left_out, "metrics_left_out", "{0} of {1} metrics are listed"},
    {FactKind::regimes_ignored, "regimes_ignored",
     "{2} of its regimes are invalid and ignored; the first is '{0}', {1} times: {3}"},
    {FactKind::reported_twice, "reported_twice", "it is reported twice"},
    {FactKind::named_value, "named_value", "{0}"},

    {FactKind::tokens_first, "tokens_first", "[T,N,8]"},
    {FactKind::heads_first, "heads_first", "[N,T,8] sequence by sequence, heads first"},
    {FactKind::statistics_read, "statistics_read",
     "the kernel reads statistics as {1}: declare this order (numerics {0})"},
    {FactKind::statistics_written, "statistics_written",
     "the kernel writes statistics as {1}: declare this order (numerics {0})"},
    {FactKind::statistics_passed, "statistics_passed",
     "the statistics are passed as {0}, as the numerics declare"},
    {FactKind::statistics_expected, "statistics_expected",
     "the statistics are expected as {0}, as the numerics declare"},
    {FactKind::conforms_otherwise, "conforms_otherwise",
     "conforms if {1}; with the memory order of the case, the verdict is {0}"},
    {FactKind::conforms_but_not_small_call, "conforms_but_not_small_call",
     "it would conform if {0}; but a small call conforms only without this declaration, so no "
     "declaration is right for both calls"},

    {FactKind::relation_domain, "relation_domain", "the relation holds for {0}"},
    {FactKind::one_run, "one_run",
     "all runs of the relation have the same inputs: the relation proves nothing here"},
    {FactKind::all_zero, "all_zero", "every output is zero: the relation proves nothing"},
    {FactKind::too_large_to_relate, "too_large_to_relate",
     "runs of this size are only compared bit by bit, which is possible only if the kernel "
     "declares a fixed order"},
    {FactKind::difference_on_fresh_seed, "difference_on_fresh_seed",
     "confirmed on the fresh seed {0}"},
    {FactKind::difference_not_repeated, "difference_not_repeated",
     "the difference did not occur again with two fresh seeds"},
    {FactKind::related_run_refused, "related_run_refused",
     "a run of the relation was refused: {0}"},
    {FactKind::related_run_refused_open, "related_run_refused_open",
     "a run of the relation was refused with {0}: {1}; {2}"},
    {FactKind::related_run_failed, "related_run_failed", "a run of the relation: {0}"},
    {FactKind::related_run_threw, "related_run_threw", "a run of the relation threw: {0}"},
    {FactKind::related_run_threw_no_exception, "related_run_threw_no_exception",
     "a run of the relation threw something that is not a std::exception"},
    {FactKind::no_forward, "no_forward", "the implementation has no forward"},
    {FactKind::forward_modified_input, "forward_modified_input",
     "the forward modified its input {0}"},
    {FactKind::forward_wrote_elsewhere, "forward_wrote_elsewhere",
     "the forward changed {0} outside its view, or replaced it"},
    {FactKind::replicas_differ, "replicas_differ", "replicas of {0} differ"},
    {FactKind::changed_forward_not_judged, "changed_forward_not_judged",
     "results of a forward with a {0} are not judged"},

    {FactKind::forward_wrong, "forward_wrong", "the forward is wrong{0}"},
    {FactKind::saved_wrong, "saved_wrong", "the values that the forward saved are wrong{0}"},
    {FactKind::backward_wrong, "backward_wrong", "the backward is wrong{0}"},
    {FactKind::pair_conforms, "pair_conforms", "forward and backward conform"},
    {FactKind::pair_with_saved_conforms, "pair_with_saved_conforms",
     "forward, saved values and backward conform"},
    {FactKind::pair_undecided, "pair_undecided", "not conclusive"},
    {FactKind::pair_undecided_because, "pair_undecided_because", "not conclusive: {0}"},
    {FactKind::forward_gave_nothing, "forward_gave_nothing",
     "the forward gave no results, so the gradient kernel was not run"},
    {FactKind::saved_not_finite, "saved_not_finite",
     "the saved {0} is not finite, so no gradient is expected"},
    {FactKind::numerics_differ, "numerics_differ",
     "the kernels declare different numerics, so no bound holds for both together"},

    {FactKind::file_without_numerics, "file_without_numerics",
     "the file states no numerics: judged as {0}"},
    {FactKind::inputs_of_file, "inputs_of_file",
     "judged with the {0} from the file, not from the replay line"},
    {FactKind::inputs_of_other_numerics, "inputs_of_other_numerics",
     "input '{0}' has digest {1}, but the replay line gives {2} for the numerics of the outputs: "
     "export the case again with the --numerics of the kernel"},
    {FactKind::inputs_in_other_order, "inputs_in_other_order",
     "the kernel expects other inputs than those of the file: {0}; export the case again with the "
     "--numerics that the kernel declares"},
    {FactKind::conforms_if, "conforms_if", "conforms if {0}"},
    {FactKind::may_conform_if, "may_conform_if", "may conform if {0}"},
    {FactKind::with_order_of_case, "with_order_of_case",
     "{1}; with the memory order of the case: {0}"},
});

/// Returns whether the list is in the order of the enumeration.
constexpr bool are_facts_in_order() {
  for (std::size_t k = 0; k < fact_texts.size(); ++k)
    if (fact_texts[k].kind != static_cast<FactKind>(k)) return false;
  return fact_texts.back().kind == FactKind::with_order_of_case;
}
static_assert(are_facts_in_order());

}  // namespace assay::conformance

namespace assay::spec {

template <>
inline constexpr auto spellings_of<conformance::FactKind> = [] {
  Spellings<conformance::FactKind, conformance::fact_texts.size()> all{};
  for (std::size_t k = 0; k < conformance::fact_texts.size(); ++k)
    all.entries[k] = {conformance::fact_texts[k].kind, conformance::fact_texts[k].word};
  return all;
}();

}  // namespace assay::spec
