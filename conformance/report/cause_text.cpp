#include "assay/conformance/report/cause_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "assay/conformance/report/sentences.hpp"
#include "assay/conformance/result/printable.hpp"

namespace assay::conformance {
namespace {

/// Returns a text such as "error 5 to 14.2 times the bound"; empty if all errors are within the
/// bound.
std::string error_text(const Cause& cause) {
  if (!(cause.largest_error > 0)) return {};
  return cause.least_error == cause.largest_error
             ? fmt::format("error {:.4g} times the bound", cause.least_error)
             : fmt::format("error {:.4g} to {:.4g} times the bound", cause.least_error,
                           cause.largest_error);
}

/// "nonconformant_proven by bound".
std::string decision_text(const Cause& cause) {
  return fmt::format("{} by {}", spec::to_string(cause.verdict), spec::to_string(cause.rule));
}

/// Returns whether the observation was made in more than half of the cases.
template <class Fact>
bool is_usual(const std::optional<Common<Fact>>& common, const Cause& cause) {
  return common && 2 * common->cases > std::ssize(cause.cases);
}

/// Returns a text such as " is wrong, without a pattern that most of the 591 cases share".
std::string without_pattern(const Cause& cause) {
  const auto cases = std::ssize(cause.cases);
  return fmt::format(" {} wrong, without a pattern{}", cause.outputs.size() == 1 ? "is" : "are",
                     cases == 1 ? "" : fmt::format(" that most of the {} cases share", cases));
}

/// Returns "mostly OBSERVATION (dq)" if the observation was made in more than half of the cases;
/// otherwise "in 3 of 7 cases OBSERVATION".
template <class Fact>
std::string text_of(const std::optional<Common<Fact>>& common, const Cause& cause) {
  if (!common) return {};
  const auto all = std::ssize(cause.cases);
  return (is_usual(common, cause) ? "mostly "
                                  : fmt::format("in {} of {} cases ", common->cases, all)) +
         describe(common->fact) +
         (common->outputs.size() < cause.outputs.size()
              ? fmt::format(" ({})", fmt::join(common->outputs, ", "))
              : "");
}

std::string failures_text(const Cause& cause) {
  if (cause.refuses_nothing) {
    const auto accepted = std::ssize(cause.cases);
    const std::string count = cause.others == 0
                                  ? fmt::format("all {}", accepted)
                                  : fmt::format("{} of {}", accepted, accepted + cause.others);
    return count + " forbidden calls were accepted: check() refuses nothing";
  }
  std::vector<std::string> facts = {text_of(cause.deviation, cause), text_of(cause.places, cause)};
  std::erase(facts, "");
  const std::string wrong = cause.wrong ? describe(*cause.wrong) + ": " : "";
  if (cause.outputs.empty()) return wrong + decision_text(cause);
  const bool is_shared = is_usual(cause.deviation, cause) || is_usual(cause.places, cause);
  return fmt::format("{}{}{}{}", wrong, fmt::join(cause.outputs, ", "),
                     is_shared ? ": " : without_pattern(cause) + (facts.empty() ? "" : "; "),
                     fmt::join(facts, "; "));
}

/// Returns a text that lists which output elements of the case are NaN. If dq, dk and dv all
/// contain NaN, the rows with NaN are the queries and keys of the tile in which the first NaN
/// appeared.
std::string nan_text(const CaseReport& report) {
  std::vector<std::string> places;
  for (const Finding& finding : report.findings)
    if (const auto& pattern = finding.pattern;
        pattern && pattern->deviation.kind == DeviationKind::not_a_number)
      places.push_back(finding.tensor + " " +
                       (pattern->places.empty() ? "everywhere" : describe(pattern->places)));
  if (places.empty()) return {};
  return fmt::format("; NaN in {}: {}", report.id, fmt::join(places, ", "));
}

/// Returns a text such as "in every case in which dk is judged and not expected to be 0".
std::string everywhere_text(const Cause& cause) {
  if (cause.refuses_nothing) return "in every case that breaks a requirement on purpose";
  if (cause.outputs.empty()) return "in every case that the kernel supports";
  return fmt::format("in every case in which {} is judged and not expected to be 0",
                     fmt::join(cause.outputs, " or "));
}

}  // namespace

std::string pattern_text(const Cause& cause, const std::vector<CaseReport>& cases) {
  std::string text = failures_text(cause);
  const auto example = std::ranges::find(cases, cause.example, &CaseReport::id);
  if (example == cases.end()) return text;
  text += nan_text(*example);
  // Append the error message of a kernel that crashed or refused the call.
  constexpr std::size_t most_shown = 300;
  if (const std::string evidence = evidence_of(*example);
      cause.outputs.empty() && !cause.refuses_nothing && !evidence.empty())
    text += fmt::format(", in {}: {}", example->id, excerpt(evidence, most_shown));
  return text;
}

std::vector<std::string> term_texts(const Cause& cause) {
  std::vector<std::string> texts;
  for (const FieldTerm& term : cause.terms) texts.push_back(term.text());
  return texts;
}

std::string where_text(const Cause& cause) {
  const std::string others =
      fmt::format("{} other case{}", cause.others, cause.others == 1 ? "" : "s");
  if (cause.terms.empty())
    return cause.others == 0 ? everywhere_text(cause)
                             : fmt::format("no condition found: {} {} not fail in this way", others,
                                           cause.others == 1 ? "does" : "do");
  const std::string fields = fmt::format("where {}", fmt::join(term_texts(cause), " and "));
  if (cause.others == 0) return fields + " (no other case has these fields)";
  return fields + fmt::format(" ({} with these fields {} not fail in this way)", others,
                              cause.others == 1 ? "does" : "do");
}

std::string judged_text(const Cause& cause) {
  std::string text = error_text(cause);
  if (!text.empty()) text += "; ";
  text += decision_text(cause);
  const auto all = std::ssize(cause.cases);
  return cause.decided == all ? text : text + fmt::format(" in {} of {} cases", cause.decided, all);
}

}  // namespace assay::conformance
