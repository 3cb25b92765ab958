#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/conformance/inputs/inputs.hpp"
#include "assay/conformance/judge/prepared_case.hpp"
#include "assay/conformance/pairs/pair.hpp"
#include "attention/lse.hpp"
#include "case/user_formula.hpp"
#include "judge/judge_case.hpp"
#include "judge/run_kernel.hpp"

/// Defines the functions that pair.hpp declares. One source file includes this file and
/// instantiates them.
namespace assay::conformance {
namespace pairs {

/// Copies the elements of a tensor into another tensor of the same shape and type.
inline void copy_elements(const spec::Tensor& from, spec::Tensor& to) {
  if (from.shape != to.shape || from.dtype != to.dtype)
    throw std::logic_error("the tensors of forward and gradient differ in shape or type");
  const auto size = static_cast<std::size_t>(size_of(from.dtype));
  const std::vector<std::int64_t> source = spec::viewed_elements(from),
                                  target = spec::viewed_elements(to);
  for (std::size_t k = 0; k < source.size(); ++k)
    std::copy_n(from.bytes.begin() + source[k] * static_cast<std::ptrdiff_t>(size), size,
                to.bytes.begin() + target[k] * static_cast<std::ptrdiff_t>(size));
}

/// Copies a tensor into the member of `tensors` with the name `to`.
template <class Tensors>
void copy_into(const spec::Tensor& from, Tensors& tensors, std::string_view to) {
  visit_tensors(tensors, [&](std::string_view name, spec::Tensor& tensor) {
    if (name == to) copy_elements(from, tensor);
  });
}

/// Returns whether the values that a forward saved are finite wherever the values of the case are
/// finite. Saved values of padding tokens are not checked.
inline bool is_finite(const spec::Tensor& saved, const spec::Tensor& of_case) {
  const std::vector<std::int64_t> elements = spec::viewed_elements(saved),
                                  same = spec::viewed_elements(of_case);
  for (std::size_t k = 0; k < elements.size(); ++k)
    if (!std::isfinite(saved.load(elements[k])) && std::isfinite(of_case.load(same[k])))
      return false;
  return true;
}

/// Returns the forward case with the same problem as a gradient case. Errors: std::invalid_argument
/// if the track of the case is not `bound` (comparison with tolerances), or if the documentation of
/// the forward forbids the call.
template <class Gradient>
auto forward_case(const Case<Gradient>& c) {
  if (c.track != Track::bound || !c.violate.empty())
    throw std::invalid_argument("forward and gradient are judged together in track bound only");
  using Pair = ForwardOf<Gradient>;
  using Forward = typename Pair::Forward;
  Case<Forward> made{.problem = c.problem,
                     .entry_point = Pair::entry_point(c.entry_point),
                     .product = c.product,
                     .variant = is_formula(c.variant) ? c.variant : "",
                     .upstream = c.upstream,
                     .documents = c.documents,
                     .rows = c.rows,
                     .seed = c.seed};
  if constexpr (requires { made.problem.softmax_in_layout; })
    if (!has_softmax_in_layout(made.entry_point)) made.problem.softmax_in_layout = {};
  auto broken = spec::violations(Forward::requirements(), call_of(made));
  std::erase_if(broken, [&](const auto* requirement) {
    return !requirement->binds(made.entry_point, made.policy());
  });
  if (!broken.empty())
    throw std::invalid_argument(std::string(Forward::name) +
                                " forbids this call: " + std::string(broken.front()->id) + " (" +
                                std::string(broken.front()->statement) + ")");
  return made;
}

/// Returns the inputs of the forward. They are copied from the inputs of the gradient with the same
/// names.
template <class Forward, class Inputs>
typename Forward::Inputs forward_inputs(const Case<Forward>& c, const Inputs& of_gradient) {
  typename Forward::Inputs inputs = make_inputs(c);
  visit_tensors(of_gradient, [&](std::string_view name, const spec::Tensor& tensor) {
    copy_into(tensor, inputs, name);
  });
  return inputs;
}

/// The result of one run of a kernel: the report and the outputs.
template <class Op>
struct Called {
  CaseReport report;
  Run<Op> run = {};
  bool has_outputs = false;
};

/// Runs the kernel on `inputs`. Compares its outputs with the outputs that are expected for the
/// inputs `judged`.
template <class Op>
Called<Op> call_and_judge(const Case<Op>& c, const typename Op::Inputs& inputs,
                          const typename Op::Inputs& judged, spec::Implementation<Op>& kernel) {
  Called<Op> called;
  try {
    auto stopped = detail::not_asked(c, kernel);
    if (!stopped) stopped = detail::stopped_in_phase_1(c, call_of(c), kernel);
    if (stopped) {
      called.report = std::move(*stopped);
    } else {
      detail::Answers<Op> answers{.numerics = numerics_of(kernel, c.problem)};
      answers.run = run_once(c, Borrowed<Op>(inputs, kernel), kernel);
      answers.metrics = asked("metrics", [&] { return kernel.metrics(); });
      called.has_outputs = !answers.run.failure;
      called.run = answers.run;
      PreparedCase<Op> prepared(c, judged);
      called.report = detail::judged(prepared, std::move(answers));
    }
    kernel.settle();
  } catch (const spec::NotAsked&) {
    throw;
  } catch (const std::exception&) {
    called.report = detail::report_of_exception(c);
    called.has_outputs = false;
  }
  called.report.implementation = kernel.name();
  return called;
}

/// Joins the reports about a forward and about its gradient. The result starts as `blank`, an empty
/// report about the gradient case.
CaseReport joined(const PairReport& pair, CaseReport blank);

/// Returns whether two kernels round in the same way, so that one error bound is valid for both.
inline bool are_alike(spec::Numerics forward, const spec::Numerics& gradient) {
  forward.saves = gradient.saves, forward.log_error = gradient.log_error;
  forward.stats = gradient.stats, forward.delta = gradient.delta;
  forward.order = gradient.order, forward.weak = gradient.weak;
  forward.statistics_order = gradient.statistics_order;
  forward.statistics_order_empty = gradient.statistics_order_empty;
  forward.statistics_order_same_as_input = gradient.statistics_order_same_as_input;
  return forward == gradient;
}

/// Returns numerics (declared arithmetic) with an error bound that includes the errors of the
/// forward, because the gradient reads the results of its own forward.
inline spec::Numerics of_both(const spec::Numerics& forward, spec::Numerics numerics) {
  numerics.saves = forward.saves;
  numerics.log_error = std::max(numerics.log_error, forward.log_error);
  numerics.stats = spec::Origin::own;
  if (numerics.delta == spec::RowTerm::given) numerics.delta = spec::RowTerm::own_output;
  return numerics;
}

/// Judges a forward and its gradient. Does not yet repeat a statistical failure to confirm it.
template <class Gradient>
PairReport judge_once(const Case<Gradient>& c,
                      spec::Implementation<typename ForwardOf<Gradient>::Forward>& forward,
                      spec::Implementation<Gradient>& gradient) {
  using Pair = ForwardOf<Gradient>;
  using Forward = typename Pair::Forward;
  const Case<Forward> first = pairs::forward_case(c);
  const spec::Numerics of_forward = numerics_of(forward, first.problem),
                       of_gradient = numerics_of(gradient, c.problem);
  if (Suite<Forward>::as_declared(first.problem, first.entry_point, of_forward) != first.problem)
    throw std::invalid_argument(
        "the forward declares another memory order of the statistics than the case: pass "
        "--statistics_order");
  const typename Gradient::Inputs given = make_inputs(c);
  const typename Forward::Inputs of_first = pairs::forward_inputs(first, given);
  pairs::Called<Forward> results = pairs::call_and_judge(first, of_first, of_first, forward);
  PairReport report{.forward = std::move(results.report)};
  if (!results.has_outputs) {
    report.why_not = FactKind::forward_gave_nothing;
    return report;
  }
  typename Gradient::Inputs own = given;
  bool reads_saved = false;
  for (const SavedValue& value : Pair::saved) {
    if (&value != std::begin(Pair::saved)) report.saved.emplace_back(value.of_forward);
    if (std::string_view(value.of_gradient).empty()) continue;
    pairs::copy_into(*find_tensor(results.run.outputs, value.of_forward), own, value.of_gradient);
    reads_saved = true;
  }
  // In rows without keys, the expected gradient uses the documented statistics, because a correct
  // forward may save other values there.
  typename Gradient::Inputs judged = own;
  if constexpr (requires { judged.softmax_max; })
    if (contribution(report.forward.verdict) == ExitCode::conformant)
      attention::copy_rows_without_keys(given, judged);
  for (const SavedValue& value : Pair::saved)
    if (const spec::Tensor* tensor = find_tensor(judged, value.of_gradient);
        tensor != nullptr && !pairs::is_finite(*tensor, *find_tensor(given, value.of_gradient)))
      report.why_not = {FactKind::saved_not_finite, value.of_forward};
  if (!report.why_not.empty()) return report;
  const Asked<Gradient> asked(c, own, of_gradient), expected(c, judged, of_gradient);
  pairs::Called<Gradient> gradients =
      pairs::call_and_judge(asked.asked(), asked.inputs(), expected.inputs(), gradient);
  report.backward = std::move(gradients.report);
  if (!reads_saved || !gradients.has_outputs) return report;
  if (!pairs::are_alike(of_forward, of_gradient)) {
    report.why_not = FactKind::numerics_differ;
    return report;
  }
  const Asked<Gradient> at_true_values(c, given, of_gradient);
  PreparedCase<Gradient> prepared(at_true_values.asked(), at_true_values.inputs());
  report.end_to_end =
      prepared.judge(gradients.run.outputs, pairs::of_both(of_forward, of_gradient));
  report.end_to_end->implementation = gradient.name();
  return report;
}

}  // namespace pairs

template <class Gradient>
PairReport judge_pair(const Case<Gradient>& c,
                      spec::Implementation<typename ForwardOf<Gradient>::Forward>& forward,
                      spec::Implementation<Gradient>& gradient) {
  PairReport report = pairs::judge_once(c, forward, gradient);
  const auto confirm = [&](auto&& part_of) {
    CaseReport* const part = part_of(report);
    if (part == nullptr || part->verdict != Verdict::statistical_unconfirmed) return;
    detail::confirm(c, *part, [&](const Case<Gradient>& fresh) {
      PairReport again = pairs::judge_once(fresh, forward, gradient);
      const CaseReport* const same = part_of(again);
      return same != nullptr ? *same : again.forward;  // the forward shows why a part is missing
    });
  };
  confirm([](PairReport& pair) { return &pair.forward; });
  confirm([](PairReport& pair) { return pair.backward ? &*pair.backward : nullptr; });
  confirm([](PairReport& pair) { return pair.end_to_end ? &*pair.end_to_end : nullptr; });
  return report;
}

template <class Gradient>
std::optional<std::string> not_a_pair(const Case<Gradient>& c) {
  try {
    pairs::forward_case(c);
  } catch (const std::invalid_argument& reason) {
    return reason.what();
  }
  return std::nullopt;
}

template <class Gradient>
CaseReport judge_pair_as_one(const Case<Gradient>& c,
                             spec::Implementation<typename ForwardOf<Gradient>::Forward>& forward,
                             spec::Implementation<Gradient>& gradient) {
  CaseReport report = blank_report(c);
  try {
    report = pairs::joined(judge_pair(c, forward, gradient), std::move(report));
  } catch (const std::invalid_argument& reason) {
    decide(report, {Rule::not_offered, {FactKind::quoted, reason.what()}}, FindingRule::note);
  }
  if (contribution(report.verdict) == ExitCode::conformant && report.value_case)
    detail::add_accepted(c, report);
  report.implementation = gradient.name();
  return report;
}

}  // namespace assay::conformance
