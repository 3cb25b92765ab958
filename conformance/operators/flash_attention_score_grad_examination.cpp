#include "assay/conformance/operators/flash_attention_score_grad.hpp"

#include <algorithm>
#include <cmath>
#include <list>
#include <optional>
#include <stdexcept>

#include "assay/conformance/expectation.hpp"
#include "assay/conformance/lattice.hpp"
#include "assay/spec/operators/flash_attention_score_grad.hpp"
#include "operators/flash_attention_score_grad_bound.hpp"
#include "operators/flash_attention_score_grad_certificate.hpp"
#include "operators/flash_attention_score_grad_structure.hpp"

namespace assay::conformance {
namespace {

using Op = spec::FlashAttentionScoreGrad;
using flash::Dense;

bool on_lattice(Track track) { return track == Track::a1 || track == Track::a2; }

/// The judged elements of an output, (rows, dim) row-major.
std::vector<double> judged_values(const Expectation& e, const spec::Tensor& tensor,
                                  spec::Layout layout) {
  const spec::HeadView view(tensor, layout, e.extents);
  std::vector<double> values(e.value.size());
  double* row = values.data();
  for (const std::int64_t number : e.rows) {
    const spec::RowPosition place = e.extents.position(number);
    view.read_row(place.b, place.n, place.s, {row, static_cast<std::size_t>(e.dim())});
    row += e.dim();
  }
  return values;
}

/// The exact gradients of a lattice case by their names, with their rows and channels.
struct ExactTensor {
  const char* name;
  const std::vector<Dyadic>& exact;
  const std::vector<std::int64_t>& rows;
  std::int64_t dim;
};

std::vector<ExactTensor> exact_tensors(const LatticeCase& lattice, const Op::Problem& p) {
  std::vector<ExactTensor> tensors = {{"dq", lattice.dq, lattice.query_rows, p.head_dim},
                                      {"dk", lattice.dk, lattice.key_rows, p.head_dim},
                                      {"dv", lattice.dv, lattice.key_rows, p.head_dim_v}};
  if (p.head_dim_rope == 0) return tensors;
  tensors.push_back({"dq_rope", lattice.dq_rope, lattice.query_rows, p.head_dim_rope});
  tensors.push_back({"dk_rope", lattice.dk_rope, lattice.key_rows, p.head_dim_rope});
  return tensors;
}

std::vector<Examination::Expected> exact_expectations(const LatticeCase& lattice,
                                                      const Op::Problem& p) {
  std::vector<Examination::Expected> all;
  for (const ExactTensor& tensor : exact_tensors(lattice, p)) {
    Examination::Expected e{.name = tensor.name, .value = {}, .radius = {}, .tau = {},
                            .rows = tensor.rows, .dim = tensor.dim};
    for (const Dyadic& x : tensor.exact)
      e.value.push_back(std::ldexp(static_cast<double>(x.numerator), x.exponent));
    e.radius.assign(tensor.exact.size(), 0.0);
    e.tau.assign(tensor.exact.size(), 0.0f);
    all.push_back(std::move(e));
  }
  return all;
}

/// Rows that are judged of every sequence and head, by their number.
std::vector<std::int64_t> judged_of(const spec::Extents& extents, std::int64_t wanted,
                                    std::uint64_t seed) {
  std::vector<std::int64_t> rows;
  for (std::int64_t b = 0; b < extents.batch; ++b) {
    const std::vector<std::int64_t> of_head = judged_rows(extents.length(b), wanted, seed);
    for (std::int64_t n = 0; n < extents.heads; ++n)
      for (const std::int64_t s : of_head) rows.push_back(extents.row(b, n, s));
  }
  return rows;
}

/// The output tensors by the names of their expectations.
const spec::Tensor& tensor_named(const Op::Outputs& outputs, const std::string& name) {
  if (name == "dq") return outputs.dq;
  if (name == "dk") return outputs.dk;
  if (name == "dv") return outputs.dv;
  return name == "dq_rope" ? outputs.dq_rope.value() : outputs.dk_rope.value();
}

/// The graver of two verdicts on one case's numbers.
Verdict graver(Verdict a, Verdict b) {
  const auto rank = [](Verdict verdict) {
    switch (verdict) {
      case Verdict::conforms: return 0;
      case Verdict::conforms_weak: return 1;
      case Verdict::inconclusive: return 2;
      case Verdict::statistical_unconfirmed: return 3;
      case Verdict::nonconformant_proven: return 4;
      default: return 5;
    }
  };
  return rank(a) < rank(b) ? b : a;
}

}  // namespace

/// What is known of the case for kernels of one profile.
struct Prepared {
  spec::NumericsProfile profile;
  Arithmetic arithmetic;
  std::optional<LatticeCase> lattice;  ///< tracks a1, a2
  std::optional<Dense> dense;          ///< of the inputs of this profile
  bool consistent = true;
  std::vector<Expectation> expectations;
  std::vector<ControlResult> controls;
};

struct Examination::State {
  Case<Op> examined;
  std::optional<Op::Inputs> inputs;  ///< track bound: the same for every profile
  bool certifies = true;
  std::optional<flash::Certificate> certificate;
  std::list<Prepared> prepared;

  Prepared& prepare(const spec::NumericsProfile& profile);
  void prepare_bound(Prepared& entry);
};

Examination::Examination(Case<Op> c) : state_(std::make_unique<State>()) {
  state_->examined = std::move(c);
  if (state_->examined.track == Track::bound) state_->inputs = make_inputs(state_->examined);
}
Examination::Examination(Case<Op> c, Op::Inputs inputs) : state_(std::make_unique<State>()) {
  state_->examined = std::move(c);
  state_->inputs = std::move(inputs);
  state_->certifies = false;
}
Examination::~Examination() = default;
Examination::Examination(Examination&&) noexcept = default;

const Case<Op>& Examination::examined() const { return state_->examined; }

Prepared& Examination::State::prepare(const spec::NumericsProfile& profile) {
  for (Prepared& entry : prepared)
    if (entry.profile == profile) return entry;
  Prepared& entry =
      prepared.emplace_back(Prepared{profile, Arithmetic(profile, examined.problem.dtype), {}, {}, true, {}, {}});
  try {
    if (on_lattice(examined.track)) {
      entry.lattice = make_lattice(examined, profile);
      entry.dense.emplace(examined.problem, entry.lattice->inputs);
    } else {
      entry.dense.emplace(examined.problem, *inputs);
      prepare_bound(entry);
    }
  } catch (...) {
    prepared.pop_back();
    throw;
  }
  return entry;
}

void Examination::State::prepare_bound(Prepared& entry) {
  const Op::Problem& p = examined.problem;
  const flash::AllRowTerms rows = flash::row_terms(*entry.dense, entry.arithmetic);
  entry.consistent = rows.consistent;
  const flash::JudgedRows judged = {
      judged_of(query_extents(p), examined.rows, examined.seed),
      judged_of(key_extents(p), examined.rows, examined.seed + 1)};
  auto expectations = flash::expectations(*entry.dense, entry.arithmetic, rows, judged);
  if (certifies && !certificate) certificate = flash::certify(*entry.dense, *inputs, judged);
  if (certificate && entry.profile.delta == spec::Origin::given) certificate->apply(expectations);
  for (Expectation& e : expectations) {
    entry.controls.push_back(judge_controls(e, entry.arithmetic));
    entry.expectations.push_back(std::move(e));
  }
}

const Op::Inputs& Examination::inputs(const spec::NumericsProfile& profile) {
  if (state_->inputs) return *state_->inputs;
  return state_->prepare(profile).lattice->inputs;
}

std::vector<Examination::Expected> Examination::expected(const spec::NumericsProfile& profile) {
  std::vector<Expected> result;
  const Prepared& entry = state_->prepare(profile);
  if (entry.lattice) return exact_expectations(*entry.lattice, state_->examined.problem);
  for (const Expectation& e : entry.expectations)
    result.push_back({.name = e.name, .value = e.value, .radius = e.radius,
                      .tau = {e.tau.begin(), e.tau.end()}, .rows = e.rows, .dim = e.dim()});
  return result;
}

namespace {

/// Verdict of the negative controls of all tensors; a case in which only zeros are due earns no coverage.
Verdict control_verdict(const std::vector<ControlResult>& controls, CaseReport& report) {
  bool applicable = false, weak = false;
  for (std::size_t k = 0; k < controls.size(); ++k) {
    report.tensors[k].controls = controls[k].letters;
    applicable |= controls[k].applicable;
    weak |= controls[k].weak;
    if (!controls[k].blind) continue;
    report.findings.push_back({.rule = "control", .tensor = report.tensors[k].name,
                               .text = report.tensors[k].name +
                                       ": zeros or the negated reference would pass (" +
                                       controls[k].letters + ")"});
    return Verdict::inconclusive;
  }
  if (!applicable) {
    report.findings.push_back({.rule = "note", .text = "no gradient of this case exceeds its "
                                                       "tolerance: only zeros and noise are due"});
    return Verdict::conforms_weak;
  }
  return weak ? Verdict::conforms_weak : Verdict::conforms;
}

/// On the lattice a control is caught wherever an exact gradient is not zero: its corruption has other bits.
Verdict exact_control_verdict(const LatticeCase& lattice, const Op::Problem& p,
                              CaseReport& report) {
  std::vector<ControlResult> controls;
  for (const ExactTensor& tensor : exact_tensors(lattice, p)) {
    const bool applicable = std::any_of(tensor.exact.begin(), tensor.exact.end(),
                                        [](const Dyadic& x) { return x.numerator != 0; });
    controls.push_back({.applicable = applicable, .letters = applicable ? "Z+N+L+S+" : "Z.N.L.S."});
  }
  return control_verdict(controls, report);
}

Verdict exemption_verdict(CaseReport& report) {
  std::int64_t exempt = 0, all = 0;
  for (const TensorReport& tensor : report.tensors)
    exempt += tensor.exempt, all += tensor.exempt + tensor.elements_judged;
  if (exempt * 100 <= all) return Verdict::conforms;
  report.findings.push_back({.rule = "note", .text = std::to_string(exempt) + " of " +
                                                     std::to_string(all) +
                                                     " judged elements are exempt: staged values "
                                                     "may overflow; the limit is 1 %"});
  return Verdict::inconclusive;
}

}  // namespace

CaseReport Examination::judge(const Op::Outputs& outputs, const spec::NumericsProfile& profile) {
  Prepared& entry = state_->prepare(profile);
  const Case<Op>& c = state_->examined;
  CaseReport report = blank_report(c);
  report.value_case = true;
  report.findings = flash::check_structure(c, *entry.dense, entry.arithmetic, outputs);
  Verdict verdict =
      report.findings.empty() ? Verdict::conforms : Verdict::nonconformant_structural;
  if (entry.lattice) {
    judge_lattice(*entry.lattice, c.problem, outputs, profile, report);
    report.verdict = graver(graver(verdict, report.verdict), exact_control_verdict(*entry.lattice, c.problem, report));
    return report;
  }
  if (!entry.consistent) {
    report.verdict = Verdict::not_applicable;
    report.findings.push_back({.rule = "note", .text = "statistics and attention_in do not belong "
                                                       "to the data, which the profile needs"});
    return report;
  }
  for (const Expectation& e : entry.expectations) {
    const auto actual =
        judged_values(e, tensor_named(outputs, e.name), c.problem.input_layout);
    verdict = graver(verdict, compare(e, actual, entry.arithmetic, report.tensors.emplace_back(),
                                      report.findings));
  }
  verdict = graver(verdict, control_verdict(entry.controls, report));
  verdict = graver(verdict, exemption_verdict(report));
  report.verdict = graver(verdict, profile.weak ? Verdict::conforms_weak : Verdict::conforms);
  return report;
}

CaseReport blank_report(const Case<Op>& c) {
  CaseReport report;
  report.operator_name = Op::name;
  report.command_line = command_line(c);
  report.id = case_id(report.command_line);
  report.note = c.note;
  report.fields = field_texts(c);
  return report;
}

}  // namespace assay::conformance
