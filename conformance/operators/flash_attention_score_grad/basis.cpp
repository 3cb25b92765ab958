#include "operators/flash_attention_score_grad/basis.hpp"

#include <string>
#include <vector>

#include "attention/bound/formula_gradients.hpp"
#include "attention/bound/sink.hpp"
#include "attention/flash/padding.hpp"
#include "attention/structure.hpp"
#include "attention/variant/partial_sums.hpp"
#include "attention/variant/variant_pattern.hpp"
#include "case/user_formula.hpp"
#include "judge/decide.hpp"
#include "judge/structure.hpp"
#include "operators/flash_attention_score_grad/definition.hpp"
#include "operators/flash_attention_score_grad/relations/cascade.hpp"

namespace assay::conformance::attention::flash {

using Op = spec::FlashAttentionScoreGrad;

Basis::Basis(const Case<Op>& c, const Op::Inputs& inputs, const Arithmetic& arithmetic)
    : AttentionBasis(dense_of(c.problem, inputs, variant_of(c.variant, c.problem, c.part)),
                     judged_rows_of(c), arithmetic, c.seed),
      case_(c),
      inputs_(inputs) {}

std::vector<Expectation> Basis::expectations() {
  std::vector<Expectation> all = AttentionBasis::expectations();
  for (Expectation& sums : sums_over_queries()) all.push_back(std::move(sums));
  return all;
}

std::vector<Expectation> Basis::sums_over_queries() {
  std::vector<Expectation> all = attention::formula_gradients(dense(), arithmetic(), row_terms());
  if (!dense().sinks.empty())
    all.push_back(attention::sink_expectation(dense(), arithmetic(), row_terms()));
  return all;
}

std::vector<Expectation> Basis::frames() {
  std::vector<Expectation> all = AttentionBasis::frames();
  for (Expectation& frame : attention::formula_frames(dense())) all.push_back(std::move(frame));
  if (!dense().sinks.empty()) all.push_back(attention::sink_frame(dense()));
  return all;
}

void Basis::each_part(const TakePart& take) {
  AttentionBasis::each_part(take);
  for (Expectation& part : sums_over_queries()) take(part);
}

std::vector<Finding> Basis::check_structure(const Op::Outputs& outputs) const {
  std::vector<Finding> findings = check_gradients(outputs);
  if (outputs.dsink) check_storage("dsink", *outputs.dsink, findings);
  if (outputs.dformula) check_storage("dformula", *outputs.dformula, findings);
  return findings;
}

Decision Basis::check_part(const std::vector<Expectation>& expectations, const Op::Outputs& outputs,
                           std::vector<Finding>& findings) const {
  if (!judged_part(dense())) return no_objection();
  std::vector<ReturnedGradient> gradients;
  for (const Expectation& e : expectations)
    gradients.push_back({&e, values({e.name, e.extents, e.rows}, outputs)});
  const std::vector<Finding> rounded = rounded_partial_sums(dense(), gradients);
  // First, so that a summary of a few findings contains them: they name the fault.
  findings.insert(findings.begin(), rounded.begin(), rounded.end());
  const std::vector<Finding> likely = likely_faults_of_part(dense(), gradients);
  findings.insert(findings.begin(), likely.begin(), likely.end());
  return structure_decision(rounded);
}

std::vector<Finding> Basis::check_gradients(const Op::Outputs& outputs) const {
  const Op::Problem& p = case_.problem;
  const bool is_padded = p.padding_q != 0 || p.padding_kv != 0;
  if (!is_padded || case_.upstream == spec::Upstream::on)
    return attention::check_structure(dense(), arithmetic(), gradient_tensors(outputs));
  // Gradients of padding tokens are not judged, because no documentation page defines them, only
  // the vendor's code.
  Op::Outputs cleared = outputs;
  clear_padding(cleared.dq, p.padding_q);
  clear_padding(cleared.dk, p.padding_kv);
  clear_padding(cleared.dv, p.padding_kv);
  if (cleared.dq_rope) clear_padding(*cleared.dq_rope, p.padding_q);
  if (cleared.dk_rope) clear_padding(*cleared.dk_rope, p.padding_kv);
  return attention::check_structure(dense(), arithmetic(), gradient_tensors(cleared));
}

std::unique_ptr<Definition> Basis::definition() const {
  return definition_of(case_.problem, inputs_,
                       variant_of(case_.variant, case_.problem, case_.part));
}

std::vector<double> Basis::values(const RowsOf& rows, const Op::Outputs& outputs) const {
  const Variant* const variant = attention::variant_of(dense());
  const Variant::Gradient* const gradient =
      variant == nullptr ? nullptr : variant->gradient(rows.tensor);
  if (rows.tensor != "dsink" && gradient == nullptr)
    return values_of(rows, outputs, case_.problem.input_layout);
  const spec::Tensor& tensor = gradient == nullptr ? *outputs.dsink : *outputs.dformula;
  const std::int64_t first = gradient == nullptr ? 0 : gradient->first;
  const std::vector<std::int64_t> elements = spec::viewed_elements(tensor);
  std::vector<double> values;
  for (const std::int64_t row : rows.rows)
    values.push_back(tensor.load(elements[static_cast<std::size_t>(first + row)]));
  return values;
}

Decision Basis::judge_saved_values(const Case<Op>& c, const Op::Inputs& inputs,
                                   const spec::Numerics& numerics, CaseReport& report) {
  if (is_formula(c.variant) || c.problem.has_sink()) {
    const Fact fact(FactKind::changed_forward_not_judged,
                    c.problem.has_sink() ? "sink" : "formula");
    report.findings.push_back({.rule = FindingRule::note, .fact = fact});
    return {Rule::not_offered, fact};
  }
  return judge_results_of_forward(c, inputs, numerics, report);
}

}  // namespace assay::conformance::attention::flash
