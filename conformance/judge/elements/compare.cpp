#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <sstream>

#include "assay/conformance/judge/expectation.hpp"
#include "judge/elements/distances.hpp"
#include "judge/elements/failure_pattern.hpp"
#include "judge/judging.hpp"
#include "judge/tolerance.hpp"

namespace assay::conformance {
namespace {

constexpr std::size_t findings_per_tensor = 8;
constexpr double bias_limit = 0.08, bias_t_limit = 8;
constexpr std::int64_t bias_rows = 32;
constexpr double certified_share = 0x1p-10;  // radius of the reference allowed beside tau

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

double square(double x) { return x * x; }

/// What the values of one tensor amount to.
struct Statistics {
  double rms = 0, rms_limit = std::numeric_limits<double>::infinity();
  double bias = 0, bias_t = 0;
  double nu = 0;  ///< degrees of freedom of rms
  bool rms_fails = false, bias_fails = false;
};

/// E29. The chi-square tail of Laurent and Massart.
double rms_limit(double nu) {
  const double x = -std::log(false_alarm);
  return std::max(1.05, std::sqrt(1 + 2 * std::sqrt(x / nu) + 2 * x / nu));
}

/// Whether the error of element k says something beside its being within tau: a value that tau does
/// not tell from zero may be nothing but noise of the given tensors, which a healthy kernel need
/// not have.
bool is_telling(const Expectation& e, std::size_t k, double actual, const Arithmetic& arithmetic) {
  return std::abs(e.value[k]) > e.tau[k] && e.sigma[k] > 0 && std::isfinite(actual) &&
         !arithmetic.cast_is_coarse(e.value[k]);
}

/// Sums over the rows of a tensor of which R and b are made.
class Moments {
 public:
  void add(const JudgedRow& row, const Arithmetic& arithmetic);
  Statistics statistics(const Arithmetic& arithmetic) const;

 private:
  double squares_ = 0, of_casts_ = 0, shares_ = 0, row_sum_ = 0, row_squares_ = 0;
  std::int64_t elements_ = 0, rows_ = 0, dim_ = 0;
  bool biasable_ = true;
};

void Moments::add(const JudgedRow& row, const Arithmetic& arithmetic) {
  if (!arithmetic.mean_free || arithmetic.truncating_sums) return;
  const Expectation& e = row.e;
  dim_ = e.dim(), biasable_ = e.biasable;
  const double share = e.share[at(row.r)];
  if (row.is_exempt() || !(share > 0)) return;
  double signed_sum = 0;
  std::int64_t in_row = 0;
  for (std::size_t k = row.first(); k < row.last(); ++k) {
    const double actual = row.value(k);
    if (!is_telling(e, k, actual, arithmetic)) continue;
    const double error = (actual - e.value[k] - e.drift[k]) / e.sigma[k];
    const double of_cast = arithmetic.cast_error(e.value[k] + e.drift[k]) / e.sigma[k];
    squares_ += error * error, of_casts_ += of_cast * of_cast;
    shares_ += share;
    ++elements_;
    if (arithmetic.cast_is_biased(e.value[k] + e.drift[k])) continue;
    // The cast that is known leans where rows are alike: it is one, however many they are.
    const double beyond_cast = error - of_cast;
    signed_sum += e.value[k] < 0 ? -beyond_cast : beyond_cast;
    ++in_row;
  }
  if (in_row == 0) return;
  const double mean = signed_sum / static_cast<double>(in_row);
  row_sum_ += mean, row_squares_ += mean * mean;
  ++rows_;
}

/// E29.
Statistics Moments::statistics(const Arithmetic& arithmetic) const {
  Statistics s;
  if (elements_ == 0) return s;
  const double judged = static_cast<double>(elements_);
  s.rms = std::sqrt(squares_ / judged);
  s.nu = square(judged) / (static_cast<double>(dim_) * shares_);
  // The final casts of just these values are known. Where rows are alike they are few, and many may
  // lie next to ties.
  s.rms_limit = rms_limit(s.nu) * std::max(1.0, std::sqrt(of_casts_ / judged));
  s.rms_fails = s.rms > s.rms_limit;
  if (rows_ < bias_rows || arithmetic.row_coherent || !biasable_) return s;
  const double count = static_cast<double>(rows_);
  s.bias = row_sum_ / count;
  const double variance = std::max(0.0, row_squares_ / count - s.bias * s.bias) / (count - 1);
  s.bias_t = variance > 0 ? s.bias / std::sqrt(variance) : 0;
  s.bias_fails = std::abs(s.bias) > bias_limit && std::abs(s.bias_t) > bias_t_limit;
  return s;
}

/// Whether all elements pass the element rule.
bool all_within(const JudgedRow& row, const Arithmetic& arithmetic) {
  if (row.is_exempt()) return true;
  for (std::size_t k = row.first(); k < row.last(); ++k)
    if (grade(row.e, k, row.value(k), arithmetic) != Grade::within) return false;
  return true;
}

std::string sentence(const Finding& f, const std::string& why) {
  std::ostringstream text;
  text.precision(9);
  text << f.tensor << '(' << f.b << ',' << f.n << ',' << f.s << ',' << f.d << ") is " << f.actual
       << ", reference " << f.expected << ", tau " << f.tolerance << ": " << why;
  return text.str();
}

Finding element_finding(const Expectation& e, std::size_t k, double x, Grade grade) {
  Finding f = locate(e, static_cast<std::int64_t>(k));
  f.actual = x, f.expected = e.value[k], f.tolerance = e.tau[k] + e.radius[k];
  switch (grade) {
    case Grade::structural:
      f.rule = "structure";
      f.text = sentence(f, "an infinity or NaN, or a finite value where one is due");
      break;
    case Grade::proven:
      f.rule = "bound";
      f.text =
          sentence(f, "beyond the rigorous bound; no kernel of the declared numerics does that");
      break;
    default:
      f.rule = "bound";
      f.text = sentence(f, "beyond the probabilistic bound");
  }
  return f;
}

/// What the gravest element of a tensor decides, with its finding as evidence.
Decision decision_of(Grade grade, const std::string& evidence) {
  switch (grade) {
    case Grade::within:
      break;
    case Grade::statistical:
      return {Verdict::statistical_unconfirmed, Rule::bound, evidence};
    case Grade::proven:
      return {Verdict::nonconformant_proven, Rule::bound, evidence};
    case Grade::structural:
      return {Verdict::nonconformant_structural, Rule::structure, evidence};
  }
  return no_objection("the elements");
}

/// What corruptions of the rows of one head would show.
struct HeadControls {
  std::int64_t b = 0, n = 0;
  std::int64_t due = 0, seen = 0;  ///< rows that are not zero; those that would be missed
  bool negation = false;           ///< seen in some element
  bool last = false;               ///< whether the last row that is due is seen
};

/// Whether an element of the row exceeds its tolerance.
bool exceeds_tolerance(const Expectation& e, std::int64_t r) {
  if (e.exempt[at(r)] != 0) return false;
  for (std::size_t k = at(r * e.dim()); k < at((r + 1) * e.dim()); ++k)
    if (std::abs(e.value[k]) > e.tau[k]) return true;
  return false;
}

/// Judged rows of one head follow each other.
void add_heads(const Expectation& e, const Arithmetic& arithmetic,
               std::vector<HeadControls>& heads) {
  for (std::int64_t r = 0; r < e.row_count(); ++r) {
    if (e.exempt[at(r)] != 0) continue;
    const spec::RowPosition row = e.extents.position(e.rows[at(r)]);
    bool due = false, seen = false, negation = false;
    for (std::size_t k = at(r * e.dim()); k < at((r + 1) * e.dim()); ++k) {
      if (std::abs(e.value[k]) <= e.floor[k]) continue;
      due = true;
      seen |= grade(e, k, 0, arithmetic) != Grade::within;
      negation |= grade(e, k, -e.value[k], arithmetic) != Grade::within;
      if (seen && negation) break;
    }
    if (!due) continue;
    if (heads.empty() || heads.back().b != row.b || heads.back().n != row.n)
      heads.push_back({.b = row.b, .n = row.n});
    HeadControls& head = heads.back();
    ++head.due;
    head.seen += seen ? 1 : 0;
    head.negation |= negation;
    head.last = seen;
  }
}

std::string blind_text(const Expectation& e, const std::vector<HeadControls>& heads) {
  const auto is_blind = [](const HeadControls& head) { return head.seen == 0; };
  const auto first = std::ranges::find_if(heads, is_blind);
  if (first == heads.end()) return {};
  return "zeros would pass in " + e.name + " of " +
         std::to_string(std::ranges::count_if(heads, is_blind)) + " of " +
         std::to_string(heads.size()) + " heads, e.g. (" + std::to_string(first->b) + "," +
         std::to_string(first->n) + "): its gradient does not exceed its tolerance";
}

/// Calls judge(row) with every row of a part. Rows are read a few at a time: each of them is looked
/// at several times, and stays near the processor meanwhile.
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

void Expectation::resize(std::int64_t count) {
  make_room(count);
  for (auto* field : {&value, &radius, &tau, &tau_det, &sigma, &floor, &drift})
    std::ranges::fill(*field, 0.0);
  for (auto* field : {&core, &accumulation, &extra}) std::ranges::fill(*field, 0.0F);
}

void Expectation::make_room(std::int64_t count) {
  const std::size_t size = at(count * dim());
  for (auto* field : {&value, &radius, &tau, &tau_det, &sigma, &floor, &drift}) field->resize(size);
  for (auto* field : {&core, &accumulation, &extra}) field->resize(size);
  share.assign(at(count), 0.0);
  exempt.assign(at(count), 0);
}

Finding locate(const Expectation& e, std::int64_t element) {
  const spec::RowPosition row = e.extents.position(e.rows[at(element / e.dim())]);
  return {.tensor = e.name, .b = row.b, .n = row.n, .s = row.s, .d = element % e.dim()};
}

void each_part(const Expectation& e, const std::function<void(const Expectation&)>& visit) {
  if (!e.part) return visit(e);
  const std::span<const std::int64_t> rows = e.rows;
  const std::size_t count = at(std::max<std::int64_t>(1, elements_of_part / e.dim()));
  for (std::size_t first = 0; first < rows.size(); first += count)
    visit(e.part(rows.subspan(first, std::min(count, rows.size() - first))));
}

Decision compare(const Expectation& e, const RowReader& actual_of, const Arithmetic& arithmetic,
                 TensorReport& report, std::vector<Finding>& findings) {
  report.name = e.name;
  report.rows_judged = e.row_count();
  report.rows_total = e.extents.rows();
  Grade worst = Grade::within;
  std::string gravest;  // what the first element of that grade is
  std::int64_t uncertified = 0;
  FailurePattern failing(e.extents);
  std::vector<Finding> elements;
  Distances distances(e, arithmetic, report);
  Yardsticks yardsticks;
  Moments moments;
  const auto grade_row = [&](const JudgedRow& row) {
    const Expectation& part = row.e;
    for (std::size_t k = row.first(); k < row.last(); ++k) {
      if (!std::isfinite(part.radius[k]) ||
          (part.tau[k] > part.floor[k] && part.radius[k] > certified_share * part.tau[k]))
        ++uncertified;
      const double actual = row.value(k);
      const Grade g = grade(part, k, actual, arithmetic);
      if (g == Grade::within) continue;
      Finding finding = locate(part, static_cast<std::int64_t>(k));
      finding.actual = actual, finding.expected = part.value[k];
      failing.add(finding);
      if (elements.size() < findings_per_tensor)
        elements.push_back(element_finding(part, k, actual, g));
      if (g > worst) gravest = element_finding(part, k, actual, g).text;
      worst = std::max(worst, g);
    }
  };
  each_part(e, [&](const Expectation& part) {
    report.certainty += part.certainty;
    each_row(part, actual_of, [&](const JudgedRow& row) {
      if (!row.is_exempt()) grade_row(row);
      distances.add(row);
      yardsticks.add(row);
      moments.add(row, arithmetic);
    });
  });
  distances.finish();
  yardsticks.finish(arithmetic, report);
  const auto note = [&](const std::string& rule, const std::string& text) {
    findings.push_back({.rule = rule, .tensor = e.name, .text = text});
  };
  if (failing.count() > 1)
    note("bound", std::to_string(failing.count()) + " of " +
                      std::to_string(report.elements_judged) + " judged elements of " + e.name +
                      " fail" + failing.text());
  std::ranges::move(elements, std::back_inserter(findings));
  const Statistics s = moments.statistics(arithmetic);
  report.rms = s.rms, report.rms_limit = std::isfinite(s.rms_limit) ? s.rms_limit : 0;
  report.bias = s.bias, report.bias_t = s.bias_t, report.nu = s.nu;
  Decision decision = decision_of(worst, gravest);
  const auto object = [&](bool fails, Verdict verdict, Rule rule, const std::string& finding,
                          const std::string& text) {
    if (!fails) return;
    note(finding, text);
    decision = graver(std::move(decision), {verdict, rule, text});
  };
  object(s.rms_fails, Verdict::statistical_unconfirmed, Rule::rms, "rms",
         "errors of " + e.name + " have R = " + std::to_string(s.rms) + ", limit " +
             std::to_string(s.rms_limit));
  object(s.bias_fails, Verdict::statistical_unconfirmed, Rule::bias, "bias",
         "errors of " + e.name + " have mean " + std::to_string(s.bias) +
             " sigma along the sign of the reference (t = " + std::to_string(s.bias_t) +
             "), limit 0.08");
  object(uncertified > 0, Verdict::inconclusive, Rule::certificate, "note",
         std::to_string(uncertified) + " elements of " + e.name +
             " have a reference whose radius exceeds 2^-10 tau");
  return decision;
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

/// E39.
ControlResult judge_controls(const Expectation& e, const Arithmetic& arithmetic) {
  ControlResult result;
  std::vector<HeadControls> heads;
  bool applicable = false, scaled_within = true;
  Moments of_scaled;
  each_part(e, [&](const Expectation& part) {
    add_heads(part, arithmetic, heads);
    for (std::int64_t r = 0; r < part.row_count() && !applicable; ++r)
      applicable = exceeds_tolerance(part, r);
    std::vector<double> scaled(at(part.dim()));
    for (std::int64_t r = 0; r < part.row_count() && scaled_within; ++r) {
      for (std::size_t d = 0; d < scaled.size(); ++d)
        scaled[d] = part.value[at(r * part.dim()) + d] * 1.02;
      const JudgedRow row{part, r, scaled};
      scaled_within = all_within(row, arithmetic);
      of_scaled.add(row, arithmetic);
    }
  });
  if (heads.empty()) {
    result.letters = "Z.N.L.S.W.";
    return result;
  }
  result.applicable = applicable;
  bool some_seen = false, some_negation = false;
  for (const HeadControls& head : heads) {
    result.rows_due += head.due;
    result.rows_blind += head.due - head.seen;
    some_seen |= head.seen > 0;
    some_negation |= head.negation;
  }
  const auto judge = [&](char letter, bool noticed) {
    result.letters += {letter, noticed ? '+' : '-'};
    result.weak |= !noticed;
  };
  judge('Z', std::ranges::all_of(heads, [](const HeadControls& h) { return h.seen > 0; }));
  judge('N', std::ranges::all_of(heads, &HeadControls::negation));
  judge('L', std::ranges::all_of(heads, &HeadControls::last));
  const Statistics s = of_scaled.statistics(arithmetic);
  judge('S', !scaled_within || s.rms_fails || s.bias_fails);
  judge('W', std::ranges::all_of(heads, [](const HeadControls& h) { return 2 * h.seen >= h.due; }));
  result.blind = result.applicable && (!some_seen || !some_negation);
  result.text = blind_text(e, heads);
  return result;
}

}  // namespace assay::conformance
