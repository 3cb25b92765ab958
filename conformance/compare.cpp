#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <sstream>

#include "assay/conformance/expectation.hpp"
#include "failure_pattern.hpp"

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

/// Grade of one element.
enum class Grade : std::uint8_t { within, statistical, proven, structural };

Grade grade(const Expectation& e, std::size_t k, double x, const Arithmetic& arithmetic) {
  if (!std::isfinite(e.radius[k])) return Grade::within;  // the reference knows nothing of it
  const double threshold = overflow_threshold(arithmetic.io), ref = e.value[k];
  const bool must_be_finite = std::abs(ref) + e.tau_det[k] < threshold;
  const bool must_overflow = std::abs(ref) - e.tau_det[k] >= threshold;
  const bool right_sign = std::signbit(x) == std::signbit(ref);
  if (std::isnan(x)) return std::isnan(ref) ? Grade::within : Grade::structural;
  const bool saturates = arithmetic.profile.overflow != spec::Overflow::inf ||
                         arithmetic.profile.round_out == spec::Rounding::rtz;
  if (std::isinf(x)) {
    const bool may = arithmetic.profile.overflow != spec::Overflow::saturate &&
                     arithmetic.profile.round_out != spec::Rounding::rtz;
    return !must_be_finite && right_sign && may ? Grade::within : Grade::structural;
  }
  if (!must_be_finite && saturates && right_sign && std::abs(x) == largest_finite(arithmetic.io))
    return Grade::within;
  if (must_overflow) return Grade::structural;
  const double error = std::abs(x - ref);
  if (error <= e.tau[k] + e.radius[k]) return Grade::within;
  return error <= e.tau_det[k] + e.radius[k] ? Grade::statistical : Grade::proven;
}

/// The chi-square tail of Laurent and Massart at 1e-9. Source: README.md of the operators, "Moments".
double rms_limit(double nu) {
  const double x = std::log(1e9);
  return std::max(1.05, std::sqrt(1 + 2 * std::sqrt(x / nu) + 2 * x / nu));
}

/// Whether the error of element k says something beside its being within tau: a value that tau does not tell from zero
/// may be nothing but noise of the given tensors, which a healthy kernel need not have.
bool is_telling(const Expectation& e, std::size_t k, double actual, const Arithmetic& arithmetic) {
  return std::abs(e.value[k]) > e.tau[k] && e.sigma[k] > 0 && std::isfinite(actual) &&
         !arithmetic.cast_is_coarse(e.value[k]);
}

Statistics statistics(const Expectation& e, const std::vector<double>& actual,
                      const Arithmetic& arithmetic) {
  Statistics s;
  if (!arithmetic.mean_free || arithmetic.truncating_sums) return s;
  double squares = 0, of_casts = 0, shares = 0, row_sum = 0, row_squares = 0;
  std::int64_t elements = 0, rows = 0;
  for (std::int64_t r = 0; r < e.row_count(); ++r) {
    if (e.exempt[at(r)] != 0 || !(e.share[at(r)] > 0)) continue;
    double signed_sum = 0;
    std::int64_t in_row = 0;
    for (std::int64_t d = 0; d < e.dim(); ++d) {
      const std::size_t k = at(r * e.dim() + d);
      if (!is_telling(e, k, actual[k], arithmetic)) continue;
      const double error = (actual[k] - e.value[k] - e.drift[k]) / e.sigma[k];
      const double of_cast = arithmetic.cast_error(e.value[k] + e.drift[k]) / e.sigma[k];
      squares += error * error, of_casts += of_cast * of_cast;
      shares += e.share[at(r)];
      ++elements;
      if (arithmetic.cast_is_biased(e.value[k] + e.drift[k])) continue;
      // The cast that is known leans where rows are alike: it is one, however many they are.
      const double beyond_cast = error - of_cast;
      signed_sum += e.value[k] < 0 ? -beyond_cast : beyond_cast;
      ++in_row;
    }
    if (in_row == 0) continue;
    const double mean = signed_sum / static_cast<double>(in_row);
    row_sum += mean, row_squares += mean * mean;
    ++rows;
  }
  if (elements == 0) return s;
  const double judged = static_cast<double>(elements);
  s.rms = std::sqrt(squares / judged);
  s.nu = square(judged) / (static_cast<double>(e.dim()) * shares);
  // The final casts of just these values are known. Where rows are alike they are few, and many may lie next to ties.
  s.rms_limit = rms_limit(s.nu) * std::max(1.0, std::sqrt(of_casts / judged));
  s.rms_fails = s.rms > s.rms_limit;
  if (rows < bias_rows || arithmetic.row_coherent || !e.biasable) return s;
  const double count = static_cast<double>(rows);
  s.bias = row_sum / count;
  const double variance = std::max(0.0, row_squares / count - s.bias * s.bias) / (count - 1);
  s.bias_t = variance > 0 ? s.bias / std::sqrt(variance) : 0;
  s.bias_fails = std::abs(s.bias) > bias_limit && std::abs(s.bias_t) > bias_t_limit;
  return s;
}

/// Whether the values would pass the element rule, R and b.
bool passes(const Expectation& e, const std::vector<double>& actual, const Arithmetic& arithmetic) {
  for (std::size_t k = 0; k < actual.size(); ++k)
    if (e.exempt[k / at(e.dim())] == 0 && grade(e, k, actual[k], arithmetic) != Grade::within)
      return false;
  const Statistics s = statistics(e, actual, arithmetic);
  return !s.rms_fails && !s.bias_fails;
}

/// What the error of one element can be compared with.
double relative_to_tau(const Expectation& e, std::size_t k, double x, const Arithmetic& arithmetic) {
  const double error = std::abs(x - e.value[k]), limit = e.tau[k] + e.radius[k];
  if (error == 0) return 0;
  if (!std::isfinite(error))  // an overflow that is due, or may be, has no distance
    return grade(e, k, x, arithmetic) == Grade::within ? 0 : HUGE_VAL;
  return limit > 0 ? error / limit : HUGE_VAL;
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
      f.text = sentence(f, "beyond the rigorous bound; no kernel of the declared profile does that");
      break;
    default:
      f.rule = "bound";
      f.text = sentence(f, "beyond the probabilistic bound");
  }
  return f;
}

Verdict verdict_of(Grade grade) {
  switch (grade) {
    case Grade::within: return Verdict::conforms;
    case Grade::statistical: return Verdict::statistical_unconfirmed;
    case Grade::proven: return Verdict::nonconformant_proven;
    case Grade::structural: return Verdict::nonconformant_structural;
  }
  return Verdict::tool_failure;
}

void describe_worst(const Expectation& e, const std::vector<double>& actual,
                    const Arithmetic& arithmetic, TensorReport& report) {
  std::size_t worst = 0;
  std::vector<double> ratios;
  std::array<std::int64_t, 11> bins{};
  std::int64_t judged = 0;
  for (std::size_t k = 0; k < actual.size(); ++k) {
    if (e.exempt[k / at(e.dim())] != 0) continue;
    ++judged;
    const double ratio = relative_to_tau(e, k, actual[k], arithmetic);
    if (ratio > report.worst || judged == 1) report.worst = ratio, worst = k;
    ++bins[ratio >= 1 ? 10 : static_cast<std::size_t>(ratio * 10)];
    if (std::abs(e.value[k]) > e.floor[k]) ratios.push_back(e.tau[k] / std::abs(e.value[k]));
  }
  report.elements_judged = judged;
  report.exempt = e.elements() - judged;
  report.histogram.assign(bins.size(), 0.0);
  if (judged == 0) return;
  for (std::size_t b = 0; b < bins.size(); ++b)
    report.histogram[b] = static_cast<double>(bins[b]) / static_cast<double>(judged);
  report.worst_at = locate(e, static_cast<std::int64_t>(worst));
  report.worst_at.actual = actual[worst];
  report.worst_at.expected = e.value[worst];
  report.worst_at.tolerance = e.tau[worst] + e.radius[worst];
  if (const double tau = e.tau[worst]; tau > 0) {
    const double core = e.core[worst], sums = e.accumulation[worst], extra = e.extra[worst];
    report.terms = {{"staging and probabilities", core / tau},
                    {"accumulation", sums / tau},
                    {"operands, partials, floor", extra / tau},
                    {"final cast", std::max(0.0, 1 - (core + sums + extra) / tau)}};
  }
  if (!ratios.empty()) {
    const auto middle = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2);
    std::nth_element(ratios.begin(), middle, ratios.end());
    report.median_tau_over_ref = *middle;
  }
}

/// Rules of other stacks, emitted beside the verdict. Source: verdict.md, section 9.
void add_yardsticks(const Expectation& e, const std::vector<double>& actual,
                    const Arithmetic& arithmetic, TensorReport& report) {
  double worst = 0, sum = 0, squares = 0, beyond_plugin = 0, beyond_bench = 0;
  const auto count = static_cast<double>(actual.size());
  for (std::size_t k = 0; k < actual.size(); ++k) {
    const double error = std::abs(actual[k] - e.value[k]), magnitude = std::abs(e.value[k]);
    const double relative = error / (magnitude + 1e-7);
    worst = std::max(worst, relative), sum += relative, squares += error * error;
    beyond_plugin += error > 0.005 + 0.005 * magnitude ? 1 : 0;
    beyond_bench += error > 1e-2 + 1e-2 * magnitude ? 1 : 0;
  }
  if (actual.empty()) return;
  const double threshold = arithmetic.io == spec::DType::bf16   ? 0x1p-7
                           : arithmetic.io == spec::DType::fp16 ? 0x1p-10
                                                                : 0x1p-13;
  const double mean = sum / count;
  report.yardsticks = {
      {"MARE", worst},
      {"MERE", mean},
      {"RMSE", std::sqrt(squares / count)},
      {"passes_ascend_single_benchmark", mean < threshold && worst < 10 * threshold ? 1 : 0},
      {"share_beyond_op_plugin_0.005", beyond_plugin / count},
      {"share_beyond_kernelbench_1e-2", beyond_bench / count},
  };
}

/// What corruptions of the rows of one head would show.
struct HeadControls {
  std::int64_t b = 0, n = 0;
  std::int64_t due = 0, seen = 0;  ///< rows that are not zero; those that would be missed
  bool negation = false;           ///< seen in some element
  bool last = false;               ///< whether the last row that is due is seen
};

/// Judged rows of one head follow each other.
std::vector<HeadControls> heads_of(const Expectation& e, const Arithmetic& arithmetic) {
  std::vector<HeadControls> heads;
  for (std::int64_t r = 0; r < e.row_count(); ++r) {
    if (e.exempt[at(r)] != 0) continue;
    const spec::RowPosition row = e.extents.position(e.rows[at(r)]);
    bool due = false, seen = false, negation = false;
    for (std::size_t k = at(r * e.dim()); k < at((r + 1) * e.dim()); ++k) {
      if (std::abs(e.value[k]) <= e.floor[k]) continue;
      due = true;
      seen |= grade(e, k, 0, arithmetic) != Grade::within;
      negation |= grade(e, k, -e.value[k], arithmetic) != Grade::within;
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
  return heads;
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

}  // namespace

void Expectation::resize(std::int64_t count) {
  const std::size_t size = at(count * dim());
  for (auto* field : {&value, &radius, &tau, &tau_det, &sigma, &floor, &drift}) field->assign(size, 0.0);
  for (auto* field : {&core, &accumulation, &extra}) field->assign(size, 0.0f);
  share.assign(at(count), 0.0);
  exempt.assign(at(count), 0);
}

Finding locate(const Expectation& e, std::int64_t element) {
  const spec::RowPosition row = e.extents.position(e.rows[at(element / e.dim())]);
  return {.tensor = e.name, .b = row.b, .n = row.n, .s = row.s, .d = element % e.dim()};
}

Verdict compare(const Expectation& e, const std::vector<double>& actual,
                const Arithmetic& arithmetic, TensorReport& report,
                std::vector<Finding>& findings) {
  report.name = e.name;
  report.rows_judged = e.row_count();
  report.rows_total = e.extents.rows();
  Grade worst = Grade::within;
  std::int64_t uncertified = 0;
  FailurePattern failing(e.extents);
  std::vector<Finding> elements;
  for (std::size_t k = 0; k < actual.size(); ++k) {
    if (e.exempt[k / at(e.dim())] != 0) continue;
    if (!std::isfinite(e.radius[k]) ||
        (e.tau[k] > e.floor[k] && e.radius[k] > certified_share * e.tau[k]))
      ++uncertified;
    const Grade g = grade(e, k, actual[k], arithmetic);
    if (g == Grade::within) continue;
    Finding finding = locate(e, static_cast<std::int64_t>(k));
    finding.actual = actual[k], finding.expected = e.value[k];
    failing.add(finding);
    if (elements.size() < findings_per_tensor)
      elements.push_back(element_finding(e, k, actual[k], g));
    worst = std::max(worst, g);
  }
  describe_worst(e, actual, arithmetic, report);
  add_yardsticks(e, actual, arithmetic, report);
  const auto note = [&](const std::string& rule, const std::string& text) {
    findings.push_back({.rule = rule, .tensor = e.name, .text = text});
  };
  if (failing.count() > 1)
    note("bound", std::to_string(failing.count()) + " of " +
                      std::to_string(report.elements_judged) + " judged elements of " + e.name +
                      " fail" + failing.text());
  std::ranges::move(elements, std::back_inserter(findings));
  const Statistics s = statistics(e, actual, arithmetic);
  report.rms = s.rms, report.rms_limit = std::isfinite(s.rms_limit) ? s.rms_limit : 0;
  report.bias = s.bias, report.bias_t = s.bias_t, report.nu = s.nu;
  Verdict verdict = verdict_of(worst);
  if (s.rms_fails)
    note("rms", "errors of " + e.name + " have R = " + std::to_string(s.rms) + ", limit " +
                    std::to_string(s.rms_limit));
  if (s.bias_fails)
    note("bias", "errors of " + e.name + " have mean " + std::to_string(s.bias) +
                     " sigma along the sign of the reference (t = " + std::to_string(s.bias_t) +
                     "), limit 0.08");
  if (verdict == Verdict::conforms && (s.rms_fails || s.bias_fails))
    verdict = Verdict::statistical_unconfirmed;
  if (uncertified > 0) {
    note("note", std::to_string(uncertified) + " elements of " + e.name +
                     " have a reference whose radius exceeds 2^-10 tau");
    if (verdict == Verdict::conforms) verdict = Verdict::inconclusive;
  }
  return verdict;
}

ControlResult judge_controls(const Expectation& e, const Arithmetic& arithmetic) {
  ControlResult result;
  const std::vector<HeadControls> heads = heads_of(e, arithmetic);
  if (heads.empty()) {
    result.letters = "Z.N.L.S.W.";
    return result;
  }
  for (std::size_t k = 0; k < e.value.size(); ++k)
    result.applicable |= e.exempt[k / at(e.dim())] == 0 && std::abs(e.value[k]) > e.tau[k];
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
  std::vector<double> scaled = e.value;
  for (double& value : scaled) value *= 1.02;
  judge('S', !passes(e, scaled, arithmetic));
  judge('W', std::ranges::all_of(heads, [](const HeadControls& h) { return 2 * h.seen >= h.due; }));
  result.blind = result.applicable && (!some_seen || !some_negation);
  result.text = blind_text(e, heads);
  return result;
}

}  // namespace assay::conformance
