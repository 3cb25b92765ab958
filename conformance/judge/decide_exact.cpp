#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "assay/conformance/inputs/inputs.hpp"
#include "judge/decide.hpp"
#include "judge/elements/error_map.hpp"
#include "judge/elements/failure_pattern.hpp"

namespace assay::conformance {
namespace {

constexpr std::int64_t most_findings = 8;

struct Element {
  spec::RowPosition row;
  std::int64_t d;
};

std::uint32_t bits_at(const spec::Tensor& tensor, std::int64_t element) {
  const auto size = static_cast<std::size_t>(spec::size_of(tensor.dtype));
  std::uint32_t wide = 0;
  std::uint16_t narrow = 0;
  const std::byte* source = tensor.bytes.data() + static_cast<std::size_t>(element) * size;
  if (size == sizeof narrow) {
    std::memcpy(&narrow, source, sizeof narrow);
    return narrow;
  }
  std::memcpy(&wide, source, sizeof wide);
  return wide;
}

double value_of(Dyadic exact) {
  return std::ldexp(static_cast<double>(exact.numerator), exact.exponent);
}

/// Returns half the distance between neighbouring numbers of the format near `value`.
double half_step(double value, spec::FloatFormat format) {
  const int exponent = value == 0 ? format.min_exponent : std::ilogb(value);
  return std::ldexp(1.0, std::max(exponent, format.min_exponent) - format.significand_bits);
}

class TensorJudge {
 public:
  explicit TensorJudge(const spec::Numerics& numerics) : numerics_(numerics) {}

  /// Compares a row and adds the results. Returns true if every element is correct.
  bool judge(const ExactOutput& subject, CaseReport& report);

 private:
  /// Compares one element. Returns the error divided by its limit; 0 if the element is correct.
  double compare(const ExactOutput& subject, const Element& e, Dyadic exact, std::uint32_t bits);
  /// Adds the judged elements near the element with the largest error to the error map of the
  /// report.
  void look_around(const ExactOutput& subject, ErrorMap& map) const;
  void differ(const ExactOutput& subject, Finding finding, Dyadic exact, AcceptableBits wanted);
  double measure(const Finding& finding, double error, double tolerance);

  const spec::Numerics& numerics_;
  TensorReport result_;
  std::vector<Finding> findings_;
  std::optional<FailurePattern> differing_;
};

double TensorJudge::measure(const Finding& finding, double error, double tolerance) {
  double share = tolerance > 0 ? error / tolerance : std::numeric_limits<double>::max();
  if (!std::isfinite(share)) share = std::numeric_limits<double>::max();
  if (share > result_.worst) {
    result_.worst = share;
    result_.worst_at = finding;
  }
  return share;
}

void TensorJudge::differ(const ExactOutput& subject, Finding finding, Dyadic exact,
                         AcceptableBits wanted) {
  differing_->add(finding);
  if (differing_->count() > most_findings) return;
  const spec::FloatFormat format = spec::format_of(subject.output->dtype);
  if (exact.numerator == 0)
    finding.fact = finding.tolerance > 0 ? FactKind::zero_or_residue : FactKind::exactly_zero;
  else
    finding.fact = {wanted.first == wanted.second ? FactKind::exact_value : FactKind::exact_tie,
                    exact.numerator,
                    exact.exponent,
                    subject.output->dtype,
                    numerics_.round_out,
                    spec::from_bits(wanted.second, format)};
  findings_.push_back(std::move(finding));
}

double TensorJudge::compare(const ExactOutput& subject, const Element& e, Dyadic exact,
                            std::uint32_t bits) {
  const spec::DType dtype = subject.output->dtype;
  const AcceptableBits wanted =
      acceptable_bits(exact, dtype, numerics_.round_out, numerics_.overflow);
  if (bits == wanted.first || bits == wanted.second) return 0;
  const spec::FloatFormat format = spec::format_of(dtype);
  Finding finding{.rule = FindingRule::exact_case,
                  .tensor = subject.tensor.name,
                  .b = e.row.b,
                  .n = e.row.n,
                  .s = e.row.s,
                  .d = e.d,
                  .actual = spec::from_bits(bits, format),
                  .expected = spec::from_bits(wanted.first, format)};
  // Zeros of both signs are equal, and magnitudes up to the floor (a small limit) count as zero.
  const double second = spec::from_bits(wanted.second, format);
  if (bits == poison_of(dtype)) finding.actual = unwritten_number(dtype);
  if (finding.actual == finding.expected || finding.actual == second) return 0;
  const double error = std::abs(finding.actual - value_of(exact));
  if (exact.numerator == 0) {
    finding.tolerance = subject.floor(e.row, e.d);
    const double share = measure(finding, error, finding.tolerance);
    // The condition is written with ! because every comparison with NaN is false. NaN therefore
    // counts as different.
    if (!(error <= finding.tolerance)) differ(subject, finding, exact, wanted);
    return share;
  }
  const double share = measure(finding, error, half_step(value_of(exact), format));
  differ(subject, finding, exact, wanted);
  return share;
}

void TensorJudge::look_around(const ExactOutput& subject, ErrorMap& map) const {
  const Finding& worst = result_.worst_at;
  const spec::FloatFormat format = spec::format_of(subject.output->dtype);
  const std::int64_t dim = subject.extents.dim;
  map.near_channel = std::max<std::int64_t>(0, worst.d - 2);
  const std::int64_t end = std::min(dim, worst.d + 3);
  for (std::size_t r = 0; r < subject.tensor.rows.size(); ++r) {
    const spec::RowPosition row = subject.extents.position(subject.tensor.rows[r]);
    if (row.b != worst.b || row.n != worst.n || std::abs(row.s - worst.s) > 2) continue;
    map.near_rows.push_back(row.s);
    for (std::int64_t d = map.near_channel; d < end; ++d) {
      const Dyadic exact =
          subject.tensor.exact[r * static_cast<std::size_t>(dim) + static_cast<std::size_t>(d)];
      add_near(map, spec::from_bits(bits_at(*subject.output, subject.element(row, d)), format),
               value_of(exact),
               exact.numerator == 0 ? subject.floor(row, d) : half_step(value_of(exact), format));
    }
  }
}

bool TensorJudge::judge(const ExactOutput& subject, CaseReport& report) {
  result_ = {.name = subject.tensor.name, .rows_total = subject.extents.rows()};
  differing_.emplace(subject.extents);
  ErrorGrid grid(subject.extents);
  std::size_t next = 0;
  for (const std::int64_t flat : subject.tensor.rows) {
    const spec::RowPosition row = subject.extents.position(flat);
    ErrorGrid::Row cells = grid.row(row);
    bool is_due = false;
    for (std::int64_t d = 0; d < subject.extents.dim; ++d) {
      const Dyadic exact = subject.tensor.exact[next++];
      is_due = is_due || exact.numerator != 0;
      cells.add(
          d, compare(subject, {row, d}, exact, bits_at(*subject.output, subject.element(row, d))));
    }
    ++result_.rows_judged;
    result_.rows_nonzero += is_due ? 1 : 0;
  }
  result_.elements_judged = result_.certainty.exact = static_cast<std::int64_t>(next);
  if (next > 0) result_.errors = grid.map();
  if (result_.worst > 0) look_around(subject, *result_.errors);
  report.tensors.push_back(result_);
  if (differing_->count() > 1)
    report.findings.push_back({.rule = FindingRule::exact_case,
                               .tensor = subject.tensor.name,
                               .pattern = differing_->pattern(result_.elements_judged)});
  for (Finding& finding : findings_) report.findings.push_back(std::move(finding));
  return differing_->count() == 0;
}

}  // namespace

void judge_exact(const std::vector<ExactOutput>& outputs, const spec::Numerics& numerics,
                 CaseReport& report) {
  bool equal = true;
  std::int64_t elements = 0;
  for (const ExactOutput& output : outputs) {
    equal = TensorJudge(numerics).judge(output, report) && equal;
    elements += report.tensors.back().elements_judged;
  }
  report.value_case = elements > 0;
  if (!equal)
    report.verdict = {Rule::exact_bits, {}};  // the first finding of the rule says what
  else if (elements == 0)
    report.verdict = {Rule::vacuity, FactKind::nothing_compared};
  else if (report.verdict == Verdict::tool_failure)
    report.verdict = no_objection();
}

}  // namespace assay::conformance
