#include "operators/flash_attention_score_grad/relations/cascade.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "assay/conformance/judge/expectation.hpp"
#include "assay/conformance/judge/prepared_case.hpp"
#include "assay/reference/flash_attention_score_grad.hpp"
#include "assay/spec/at.hpp"
#include "attention/lse.hpp"
#include "attention/statistics.hpp"
#include "judge/decide.hpp"
#include "operators/flash_attention_score_grad/relations/forward_bound.hpp"

namespace assay::conformance::attention::flash {
namespace {

using Kernel = spec::Implementation<Op>;
using Exact = reference::Forward<double>;

constexpr double largest_float = std::numeric_limits<float>::max();

using spec::at;

/// A tensor that the forward writes, and its name.
struct Result {
  const char* name;
  spec::Tensor Op::Inputs::*tensor;
};
constexpr Result results[] = {{"softmax_max", &Op::Inputs::softmax_max},
                              {"softmax_sum", &Op::Inputs::softmax_sum},
                              {"attention_in", &Op::Inputs::attention_in}};

bool is_result(const std::string& name) {
  return std::ranges::any_of(results, [&](const Result& result) { return name == result.name; });
}

/// Returns the inputs. The tensors that the forward will write are filled with a guard pattern.
Op::Inputs without_results(const FlashCase& c, Op::Inputs inputs) {
  const auto call = call_of(c).parameters;
  inputs.softmax_max = guarded_tensor(call.softmax_max);
  inputs.softmax_sum = guarded_tensor(call.softmax_sum);
  inputs.attention_in = guarded_tensor(call.attention_in);
  return inputs;
}

void add_finding(CaseReport& report, FindingRule rule, const std::string& tensor, Fact fact) {
  report.findings.push_back({.rule = rule, .tensor = tensor, .fact = std::move(fact)});
}

/// Returns whether the elements in the view are the only difference between `before` and `after`.
bool only_view_written(const spec::Tensor& before, const spec::Tensor& after) {
  if (before.dtype != after.dtype || before.shape != after.shape ||
      before.strides != after.strides || before.offset != after.offset ||
      before.bytes.size() != after.bytes.size())
    return false;
  spec::Storage restored = after.bytes;
  const std::int64_t size = size_of(after.dtype);
  for (const std::int64_t element : spec::viewed_elements(after))
    std::copy_n(before.bytes.begin() + element * size, size, restored.begin() + element * size);
  return restored == before.bytes;
}

bool replicas_agree(const spec::Tensor& statistics) {
  const std::vector<std::int64_t> elements = spec::viewed_elements(statistics);
  const std::byte* bytes = statistics.bytes.data();
  for (std::size_t k = 0; k < elements.size(); ++k)
    if (std::memcmp(bytes + elements[k] * 4,
                    bytes + elements[k - k % spec::statistics_replicas] * 4, 4) != 0)
      return false;
  return true;
}

void check_replicas(const Op::Inputs& inputs, CaseReport& report) {
  for (const auto& [name, tensor] : results)
    if (tensor != &Op::Inputs::attention_in && !replicas_agree(inputs.*tensor))
      add_finding(report, FindingRule::structure, name, {FactKind::replicas_differ, name});
}

/// Checks that the forward wrote only to the views of its outputs, and that all copies of a
/// statistic are equal.
Decision check_results(const Op::Inputs& before, const Op::Inputs& after, CaseReport& report) {
  const std::size_t known = report.findings.size();
  std::vector<const spec::Tensor*> changed;
  visit_tensors(after,
                [&](const char*, const spec::Tensor& tensor) { changed.push_back(&tensor); });
  std::size_t next = 0;
  visit_tensors(before, [&](const std::string& name, const spec::Tensor& tensor) {
    const spec::Tensor& own = *changed[next++];
    if (!is_result(name) && own.bytes != tensor.bytes)
      add_finding(report, FindingRule::structure, name, {FactKind::forward_modified_input, name});
    if (is_result(name) && !only_view_written(tensor, own))
      add_finding(report, FindingRule::structure, name, {FactKind::forward_wrote_elsewhere, name});
  });
  check_replicas(after, report);
  if (report.findings.size() == known) return no_objection();
  return {Rule::structure, report.findings[known].fact};
}

/// Computes the forward of the case in double, without the roundings of a kernel.
Exact exact_forward(const Op::Problem& p, const Op::Inputs& inputs) {
  return reference::forward(p, reference::operands_of<double>(p, inputs),
                            reference::side_inputs(inputs));
}

/// Returns an expectation with these values. Both tolerances are `tau`, the rigorous (worst-case)
/// tolerance.
Expectation expectation_of(const char* name, spec::Extents extents,
                           const std::vector<double>& value, const std::vector<double>& tau) {
  Expectation e;
  e.name = name;
  e.extents = std::move(extents);
  e.rows = ascending(0, e.extents.rows());
  e.resize(e.row_count());
  std::ranges::copy(value, e.value.begin());
  for (auto* field : {&e.tau, &e.tau_det}) std::ranges::copy(tau, field->begin());
  e.biasable = false;
  return e;
}

/// Rescales the expected softmax_sum to the softmax_max that the kernel returned. The documentation
/// does not define the statistics of a sequence without keys, so several pairs of values are
/// accepted. Each of them is replaced by the statistics of a fully masked row.
void fit_to_own(const Op::Problem& p, reference::Operands<double>& own, Expectation& max,
                Expectation& sum) {
  for (std::size_t row = 0; row < max.value.size(); ++row) {
    double &given = own.softmax_max[row], &given_sum = own.softmax_sum[row];
    if (max.value[row] != -largest_float) {
      sum.value[row] *= std::exp(max.value[row] - given);
      sum.tau[row] = sum.tau_det[row] = sum.tau[row] * sum.value[row];
      continue;
    }
    const std::int64_t b = max.extents.position(static_cast<std::int64_t>(row)).b;
    if (p.length_kv(b) == 0 && is_of_no_key(given, given_sum))
      given = dead_statistics.max, given_sum = dead_statistics.sum;
  }
}

/// Returns the expected statistics. `own` has the kernel's statistics; they are replaced by the
/// numbers to compare (such as log-sum-exp).
std::vector<Expectation> expected_statistics(const Op::Problem& p, const Exact& exact,
                                             const ForwardTolerances& tau, bool saves_lse,
                                             reference::Operands<double>& own) {
  spec::Extents rows = query_extents(p);
  rows.dim = 1;
  const auto expected = [&](const char* name, const auto& value, const auto& limit) {
    return expectation_of(name, rows, value, limit);
  };
  std::vector<Expectation> all;
  if (saves_lse) {
    std::vector<double> lse = exact.softmax_max;
    for (std::size_t row = 0; row < lse.size(); ++row) {
      lse[row] = log_sum_exp(lse[row], exact.softmax_sum[row]);
      own.softmax_max[row] = log_sum_exp(own.softmax_max[row], own.softmax_sum[row]);
    }
    all.push_back(expected("softmax_max", lse, tau.log_sum_exp));
  } else {
    all.push_back(expected("softmax_max", exact.softmax_max, tau.softmax_max));
    all.push_back(expected("softmax_sum", exact.softmax_sum, tau.softmax_sum));
    fit_to_own(p, own, all[0], all[1]);
  }
  for (Expectation& e : all)  // no part of their error is a cast to the type of the tensors
    std::ranges::transform(e.tau, e.core.begin(), [](double x) { return static_cast<float>(x); });
  return all;
}

Decision judge_forward(const FlashCase& c, const Dense& dense, const Exact& exact,
                       const Op::Inputs& own, const Arithmetic& arithmetic, CaseReport& report) {
  const Op::Problem& p = c.problem;
  auto operands = reference::operands_of<double>(p, own);
  const ForwardTolerances tau = forward_tolerances(dense, arithmetic);
  const std::vector<Expectation> statistics =
      expected_statistics(p, exact, tau, saves_lse(arithmetic.numerics), operands);
  Expectation output =
      expectation_of("attention_in", dy_extents(p), exact.attention_out, tau.attention_in);
  std::ranges::transform(tau.before_cast, output.core.begin(),
                         [](double x) { return static_cast<float>(x); });
  const Arithmetic of_statistics(arithmetic.numerics, spec::DType::fp32);
  const auto judge = [&](const Expectation& e, const std::vector<double>& actual,
                         const Arithmetic& n) {
    return compare(e, actual, n, report.tensors.emplace_back(), report.findings);
  };
  Decision decision = judge(statistics[0], operands.softmax_max, of_statistics);
  if (statistics.size() > 1)
    decision = graver(decision, judge(statistics[1], operands.softmax_sum, of_statistics));
  decision = graver(decision, judge(output, operands.attention_in, arithmetic));
  const ControlResult controls = judge_controls(output, arithmetic);
  TensorReport& judged = report.tensors.back();
  judged.controls = controls.letters;
  judged.rows_nonzero = controls.rows_nonzero, judged.rows_blind = controls.rows_blind;
  if (!controls.blind) return decision;
  add_finding(report, FindingRule::control, "attention_in", {});
  return graver(decision, {Rule::control, Ground::blind, {}});
}

/// Returns the inputs from which the expected gradients are computed. If the kernel recomputes the
/// statistics or the row term (sum of dy times output), it does not read the corresponding tensors.
/// They are then replaced by tensors that fit the other inputs. Rows without keys get the
/// documented statistics.
Op::Inputs judged_inputs(const FlashCase& c, const spec::Numerics& numerics,
                         const Op::Inputs& given, const Op::Inputs& own, const Exact& exact) {
  if (numerics.stats == spec::Origin::own) return given;
  Op::Inputs inputs = own;
  copy_rows_without_keys(given, inputs);
  if (numerics.delta == spec::RowTerm::given) return inputs;
  const Op::Problem& p = c.problem;
  const auto operands = reference::operands_of<double>(p, own);
  const spec::HeadIndex index(inputs.attention_in, p.input_layout, dy_extents(p));
  const spec::Extents& e = index.extents();
  for (std::int64_t row = 0; row < e.rows(); ++row) {
    const spec::RowPosition place = e.position(row);
    const double factor = std::exp(exact.softmax_max[at(row)] - operands.softmax_max[at(row)]) *
                          exact.softmax_sum[at(row)] / operands.softmax_sum[at(row)];
    for (std::int64_t d = 0; d < e.dim; ++d)
      inputs.attention_in.store(index(place.b, place.n, place.s, d),
                                exact.softmax_max[at(row)] == -largest_float
                                    ? 0
                                    : factor * exact.attention_out[at(row * e.dim + d)]);
  }
  return inputs;
}

void append(std::vector<double>& to, const std::vector<double>& row) {
  to.insert(to.end(), row.begin(), row.end());
}

/// Computes the gradients from the exact results of the forward, without rounding.
OutputValues exact_gradients(const Op::Problem& p, const Op::Inputs& inputs, const Exact& exact) {
  auto operands = reference::operands_of<double>(p, inputs);
  operands.softmax_max = exact.softmax_max;
  operands.softmax_sum = exact.softmax_sum;
  operands.attention_in = exact.attention_out;
  const reference::FlashAttentionScoreGrad<double> oracle(p, std::move(operands),
                                                          reference::side_inputs(inputs));
  OutputValues g;
  const spec::Extents queries = query_extents(p), keys = key_extents(p);
  for (std::int64_t row = 0; row < queries.rows(); ++row) {
    const spec::RowPosition place = queries.position(row);
    const auto query = oracle.dq_row(place.b, place.n, place.s);
    append(g["dq"], query.dq), append(g["dq_rope"], query.dq_rope);
  }
  for (std::int64_t row = 0; row < keys.rows(); ++row) {
    const spec::RowPosition place = keys.position(row);
    const auto key = oracle.dkv_row(place.b, place.n, place.s);
    append(g["dk"], key.dk), append(g["dv"], key.dv), append(g["dk_rope"], key.dk_rope);
  }
  return g;
}

/// Adds to the report the largest error of a gradient relative to the exact gradient, divided by
/// the tolerance tau of the element.
void add_end_to_end(const OutputValues& actual, const OutputValues& exact,
                    const std::vector<Expected>& expected, CaseReport& report) {
  for (const Expected& e : expected) {
    const auto &x = actual.at(e.name), &y = exact.at(e.name);
    double worst = 0;
    for (std::size_t k = 0; k < e.tau.size(); ++k)
      if (e.tau[k] > 0)
        worst = std::max(worst, std::abs(x[k] - y[k]) / static_cast<double>(e.tau[k]));
    for (TensorReport& tensor : report.tensors)
      if (tensor.name == e.name) tensor.yardsticks.emplace_back("end_to_end_error_over_tau", worst);
  }
}

/// Judges the gradients that the kernel computes from the results of its own forward, with the
/// ordinary bound.
Decision judge_backward(const FlashCase& c, Kernel& kernel, const Op::Inputs& given,
                        const Op::Inputs& own, const Exact& exact, CaseReport& report) {
  FlashCase backward = c;
  backward.track = Track::bound, backward.relation.clear(), backward.rows = 0;
  const spec::Numerics numerics = kernel.numerics(c.problem);
  Op::Outputs outputs = make_outputs(backward);
  kernel.run_call(call_of(backward), c.problem, own, outputs);
  PreparedCase<Op> prepared(backward, judged_inputs(c, numerics, given, own, exact));
  CaseReport judged = prepared.judge(outputs, numerics);
  std::ranges::move(judged.tensors, std::back_inserter(report.tensors));
  std::ranges::move(judged.findings, std::back_inserter(report.findings));
  add_end_to_end(output_values<Op>(c.problem, outputs), exact_gradients(c.problem, given, exact),
                 prepared.expected(numerics), report);
  return judged.verdict;
}

}  // namespace

Decision judge_cascade(const FlashCase& c, Kernel& kernel, CaseReport& report) {
  if (!kernel.has_forward()) {
    add_finding(report, FindingRule::note, "", FactKind::no_forward);
    return {Rule::not_offered, FactKind::no_forward};
  }
  kernel.check(call_of(c));
  const Op::Inputs given = make_inputs(c), blank = without_results(c, given);
  Op::Inputs own = blank;
  kernel.forward(c.problem, own);
  Decision decision = check_results(blank, own, report);
  if (decision != Verdict::conforms) return decision;
  const Exact exact = exact_forward(c.problem, given);
  const Arithmetic arithmetic(kernel.numerics(c.problem), c.problem.dtype);
  decision = judge_forward(c, Dense(c.problem, given), exact, own, arithmetic, report);
  if (contribution(decision) == ExitCode::nonconformant) return decision;
  return graver(decision, judge_backward(c, kernel, given, own, exact, report));
}

Decision judge_results_of_forward(const FlashCase& c, const Op::Inputs& inputs,
                                  const spec::Numerics& numerics, CaseReport& report) {
  check_replicas(inputs, report);
  if (!report.findings.empty()) return {Rule::structure, report.findings.front().fact};
  const Arithmetic arithmetic(numerics, c.problem.dtype);
  return judge_forward(c, Dense(c.problem, inputs), exact_forward(c.problem, inputs), inputs,
                       arithmetic, report);
}

}  // namespace assay::conformance::attention::flash
