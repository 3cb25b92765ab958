#include "judge/elements/tally.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "assay/spec/at.hpp"
#include "judge/decide.hpp"
#include "judge/elements/row_loops.hpp"

namespace assay::conformance {
namespace {

constexpr std::size_t findings_per_tensor = 8;
constexpr double certified_share = 0x1p-10;  // E30: largest allowed radius / tau

using spec::at;

Finding element_finding(const Expectation& e, std::size_t k, double x, Grade grade) {
  Finding f = locate(e, static_cast<std::int64_t>(k));
  f.actual = x, f.expected = e.value[k], f.tolerance = e.tau[k] + e.radius[k];
  switch (grade) {
    case Grade::structural:
      f.rule = FindingRule::structure;
      f.fact = FactKind::not_finite;
      break;
    case Grade::proven:
      f.rule = FindingRule::bound;
      f.fact = FactKind::beyond_rigorous_bound;
      break;
    default:
      f.rule = FindingRule::bound;
      f.fact = FactKind::beyond_probable_bound;
  }
  return f;
}

/// Returns the decision that follows from the element with the most severe error.
Decision decision_of(Grade grade, const Fact& element) {
  switch (grade) {
    case Grade::within:
      break;
    case Grade::statistical:
      return {Rule::bound, Ground::likely, element};
    case Grade::proven:
      return {Rule::bound, Ground::certain, element};
    case Grade::structural:
      return {Rule::structure, element};
  }
  return no_objection();
}

/// Calls judge(row) for every row of a part. Reads only a few rows at a time, so that a row is
/// still in the cache when it is used again.
template <class Judge>
void each_row(const Expectation& part, const RowReader& actual_of, const Judge& judge) {
  constexpr std::int64_t elements = 1 << 12;
  const std::int64_t step =
      std::max<std::int64_t>(1, elements / std::max<std::int64_t>(1, part.dim()));
  for (std::int64_t first = 0; first < part.row_count(); first += step) {
    const std::int64_t count = std::min(step, part.row_count() - first);
    const std::vector<double> actual =
        actual_of(std::span(part.rows).subspan(at(first), at(count)));
    for (std::int64_t r = 0; r < count; ++r)
      judge(JudgedRow{part, first + r,
                      std::span(actual).subspan(at(r * part.dim()), at(part.dim()))});
  }
}

}  // namespace

Tally::Tally(const Expectation& whole, const Arithmetic& arithmetic)
    : whole_(whole),
      arithmetic_(arithmetic),
      failing_(whole.extents, whole.row_count() == whole.extents.rows()),
      distances_(whole) {}

void Tally::add_row(const JudgedRow& row) {
  const Expectation& part = row.e;
  for (std::size_t k = row.first(); k < row.last(); ++k) {
    if (!std::isfinite(part.radius[k]) || !std::isfinite(part.tau[k]) ||
        (part.tau[k] > part.floor[k] && part.radius[k] > certified_share * part.tau[k]))
      ++uncertified_;
    const double actual = row.value(k);
    const Grade g = grade(part, k, actual, arithmetic_);
    if (g == Grade::within) continue;
    Finding finding = locate(part, static_cast<std::int64_t>(k));
    finding.actual = actual, finding.expected = part.value[k];
    failing_.add(finding);
    if (elements_.size() < findings_per_tensor)
      elements_.push_back(element_finding(part, k, actual, g));
    if (g > worst_) gravest_ = fact_of(element_finding(part, k, actual, g));
    worst_ = std::max(worst_, g);
  }
}

void Tally::look_at(const JudgedRow& row) {
  const RowNumbers numbers(row.e, row.first(), row.values.size(), row.values.data());
  if (all_within(numbers, certified_share, ratios_.data())) return;
  for (std::size_t k = row.first(); k < row.last(); ++k)
    ratios_[k - row.first()] = relative_to_tau(row.e, k, row.value(k), arithmetic_);
  add_row(row);
}

void Tally::add(const Expectation& part, const RowReader& actual) {
  certainty_ += part.certainty;
  ratios_.resize(at(part.dim()));
  each_row(part, actual, [&](const JudgedRow& row) {
    if (!row.is_exempt()) look_at(row);
    distances_.add(row, ratios_);
    yardsticks_.add(row, arithmetic_.io);
    moments_.add(row, arithmetic_);
  });
}

void Tally::append(Tally&& later) {
  if (later.worst_ > worst_) worst_ = later.worst_, gravest_ = std::move(later.gravest_);
  uncertified_ += later.uncertified_;
  failing_.append(later.failing_);
  std::ranges::move(later.elements_, std::back_inserter(elements_));
  elements_.resize(std::min(elements_.size(), findings_per_tensor));
  certainty_ += later.certainty_;
  distances_.append(later.distances_);
  yardsticks_.append(later.yardsticks_);
  moments_.append(later.moments_);
}

Decision Tally::finish(TensorReport& report, std::vector<Finding>& findings) {
  const std::string& name = whole_.name;
  report.name = name;
  report.rows_judged = whole_.row_count();
  report.rows_total = whole_.extents.rows();
  report.certainty += certainty_;
  distances_.finish(report);
  yardsticks_.finish(arithmetic_, report);
  if (failing_.count() > 1)
    findings.push_back({.rule = FindingRule::bound,
                        .tensor = name,
                        .pattern = failing_.pattern(report.elements_judged)});
  std::ranges::move(elements_, std::back_inserter(findings));
  const Statistics s = moments_.statistics(arithmetic_);
  report.rms = s.rms, report.rms_limit = std::isfinite(s.rms_limit) ? s.rms_limit : 0;
  report.bias = s.bias, report.bias_t = s.bias_t, report.nu = s.nu;
  Decision decision = decision_of(worst_, gravest_);
  const auto object = [&](bool fails, Rule rule, Ground ground, FindingRule finding,
                          const Fact& fact) {
    if (!fails) return;
    findings.push_back({.rule = finding, .tensor = name, .fact = fact});
    decision = graver(std::move(decision), {rule, ground, fact});
  };
  object(s.rms_fails, Rule::rms, Ground::likely, FindingRule::rms,
         {FactKind::rms_too_large, name, s.rms, s.rms_limit});
  object(s.bias_fails, Rule::bias, Ground::likely, FindingRule::bias,
         {FactKind::bias_too_large, name, s.bias, s.bias_t});
  object(uncertified_ > 0, Rule::certificate, Ground::only, FindingRule::note,
         {FactKind::uncertified, uncertified_, name});
  return decision;
}

Decision compare(const Expectation& e, const RowReader& actual, const Arithmetic& arithmetic,
                 TensorReport& report, std::vector<Finding>& findings) {
  Tally tally(e, arithmetic);
  each_part(e, [&](const Expectation& part) { tally.add(part, actual); });
  return tally.finish(report, findings);
}

Decision compare(const Expectation& e, const std::vector<double>& actual,
                 const Arithmetic& arithmetic, TensorReport& report,
                 std::vector<Finding>& findings) {
  const auto of_rows = [&](std::span<const std::int64_t> rows) {
    const auto first = actual.begin() + (rows.data() - e.rows.data()) * e.dim();
    return std::vector<double>(first, first + std::ssize(rows) * e.dim());
  };
  return compare(e, of_rows, arithmetic, report, findings);
}

}  // namespace assay::conformance
