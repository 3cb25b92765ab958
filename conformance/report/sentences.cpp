#include "assay/conformance/report/sentences.hpp"

#include <fmt/args.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <variant>

#include "assay/conformance/report/fact_text.hpp"
#include "assay/conformance/result/printable.hpp"
#include "assay/conformance/sweep/repetition.hpp"
#include "assay/spec/status.hpp"
#include "judge/run_kernel.hpp"

namespace assay::conformance {
namespace {

std::string ordinal(std::int64_t k) {
  const std::int64_t tens = k % 100;
  const bool is_teen = tens >= 11 && tens <= 13;
  constexpr std::string_view endings[] = {"th", "st", "nd", "rd"};
  return fmt::format("{}{}", k, is_teen || k % 10 > 3 ? "th" : endings[k % 10]);
}

std::string listed(const AxisPlace& place) {
  std::string text = fmt::format("{} = {}", place.axis, place.numbers[0]);
  for (std::size_t k = 1; k < place.numbers.size(); ++k)
    text += fmt::format("{}{}", k + 1 == place.numbers.size() ? " and " : ", ", place.numbers[k]);
  return text;
}

/// A missing number counts as 0, because the report may come from another program.
std::string text_of(const AxisPlace& place) {
  const auto number = [&](std::size_t k) {
    return k < place.numbers.size() ? place.numbers[k] : 0;
  };
  switch (place.kind) {
    case PlaceKind::last:
      return "the last " + place.axis;
    case PlaceKind::listed:
      return place.numbers.empty() ? place.axis : listed(place);
    case PlaceKind::range:
      return fmt::format("{} from {} to {}", place.axis, number(0),
                         place.numbers.size() < 2 ? "the end" : std::to_string(number(1)));
    case PlaceKind::steps:
      return fmt::format("every {} {} from {}", ordinal(number(0)), place.axis, number(1));
    case PlaceKind::periods:
      return fmt::format("{} mod {} from {} to {}", place.axis, number(0), number(1), number(2));
  }
  return {};
}

std::string shifted(std::string_view axis, std::int64_t shift) {
  return fmt::format("the expected values of {} {} {}", axis, shift < 0 ? '-' : '+',
                     std::abs(shift));
}

std::string multiple(const Deviation& deviation) {
  const std::string quantities = fmt::format("{}", fmt::join(deviation.quantities, " or "));
  if (deviation.factor == 0) return quantities + " times the expected value";
  return fmt::format("about {:.4g} times the expected value{}{}", deviation.factor,
                     quantities.empty() ? "" : ": ", quantities);
}

std::string of_heads(const Deviation& deviation) {
  if (deviation.heads.empty()) return "some heads have the expected values of other heads";
  std::string text;
  for (const auto& [head, from] : deviation.heads)
    text += fmt::format("{}n = {} has the expected values of n = {}", text.empty() ? "" : ", ",
                        head, from);
  return text;
}

/// Returns the words that connect the list of failing elements with the description of their
/// deviation.
std::string_view joined_by(DeviationKind kind) {
  if (kind == DeviationKind::heads) return "; ";
  return kind < DeviationKind::heads ? ", where the output is " : "; it has ";
}

std::string of_pattern(const Finding& finding) {
  const Pattern& pattern = *finding.pattern;
  const std::string places = describe(pattern.places), deviation = describe(pattern.deviation);
  std::string text =
      fmt::format("{} of {} judged elements of {} {}", pattern.failing, pattern.judged,
                  finding.tensor, finding.rule == FindingRule::exact_case ? "differ" : "fail");
  if (!places.empty()) text += ", " + places;
  if (!deviation.empty()) text += fmt::format("{}{}", joined_by(pattern.deviation.kind), deviation);
  return text;
}

std::string of_count(const Finding& finding) {
  const auto [failing, judged] = *finding.count;
  if (finding.rule == FindingRule::tile_sum)
    return fmt::format("{} of {} tiles of {} have a wrong sum", failing, judged, finding.tensor);
  return fmt::format("{}: {} of {} elements differ", finding.tensor, failing, judged);
}

std::string of_refusal(const Finding& finding) {
  const Refusal& refusal = *finding.refusal;
  const auto status = [](std::int32_t code) { return describe(static_cast<spec::Status>(code)); };
  std::string text =
      fmt::format("refused with {}: {}", status(refusal.status), finding.message.value_or(""));
  if (refusal.documented) text += "; the documents name " + status(*refusal.documented);
  return text;
}

std::string of_repetition(const FailedAgain& again) {
  if (!again.trouble.empty()) return "the case could not be run again alone: " + again.trouble;
  const std::string text = "run again alone, the case fails " +
                           text_of(Repetition{.runs = again.runs, .failures = again.failures});
  if (again.before.empty()) return text;
  return again.fails_after
             ? text + ", but after another call: " + again.before
             : text + ", nor after the previous case: it fails rarely, or only after other calls";
}

/// Returns a summary of the tensors of a conforming case.
std::string of_agreement(const std::vector<TensorReport>& tensors) {
  std::int64_t elements = 0;
  std::vector<std::string_view> names;
  for (const TensorReport& tensor : tensors)
    elements += tensor.elements_judged, names.emplace_back(tensor.name);
  const TensorReport& worst = *std::ranges::max_element(tensors, {}, &TensorReport::worst);
  std::string text = fmt::format("{} elements of {} agree", elements, fmt::join(names, ", "));
  if (worst.worst > 0)
    text += fmt::format("; the worst error is {:.3g} of its limit, in {}", worst.worst, worst.name);
  return text;
}

/// Returns the rule of the findings that led to the verdict. It has the same name as the verdict's
/// rule, with two exceptions.
FindingRule finding_rule_of(Rule rule) {
  if (rule == Rule::exact_bits) return FindingRule::exact_case;
  if (rule == Rule::forbidden_call) return FindingRule::status;
  return spec::spellings_of<FindingRule>.parse(spec::to_string(rule)).value_or(FindingRule::none);
}

}  // namespace

std::string describe(std::span<const AxisPlace> places) {
  std::string text;
  for (const AxisPlace& place : places) text += (text.empty() ? "all at " : ", ") + text_of(place);
  return text;
}

std::string describe(PairPart wrong) { return sentence_of(Fact(kind_of(wrong), "")); }

std::string describe(const Deviation& deviation) {
  switch (deviation.kind) {
    case DeviationKind::none:
      return {};
    case DeviationKind::never_written:
      return "never written";
    case DeviationKind::not_a_number:
      return "NaN";
    case DeviationKind::zero:
      return "0";
    case DeviationKind::multiple:
      return multiple(deviation);
    case DeviationKind::heads:
      return of_heads(deviation);
    case DeviationKind::rows:
      return shifted("s", deviation.shift);
    case DeviationKind::channels:
      return shifted("d", deviation.shift);
  }
  return {};
}

std::string sentence_of(const Fact& fact) {
  fmt::dynamic_format_arg_store<fmt::format_context> places;
  for (const FactValue& value : fact.values)
    std::visit([&](const auto& one) { places.push_back(one); }, value);
  std::vector<std::string> parts;
  for (const Fact& part : fact.parts) parts.push_back(sentence_of(part));
  const bool is_explained = fact.kind == FactKind::explained;
  places.push_back(fmt::format("{}", fmt::join(parts, is_explained ? ": " : "; ")));
  try {
    const std::string_view sentence = fact_texts.at(static_cast<std::size_t>(fact.kind)).sentence;
    return excerpt(fmt::vformat(sentence, places));
  } catch (const fmt::format_error&) {
    return {};
  }
}

std::string sentence_of(const Finding& finding, const CaseReport& report) {
  if (!finding.text.empty()) return finding.text;
  if (!finding.fact.empty()) return sentence_of(fact_of(finding));
  if (finding.pattern) return of_pattern(finding);
  if (finding.count) return of_count(finding);
  // The error message of a kernel may be long. Only an excerpt is returned, which is not longer
  // than the excerpt in a stored report.
  if (finding.refusal) return excerpt(of_refusal(finding));
  if (finding.again) return excerpt(of_repetition(*finding.again));
  if (finding.rule == FindingRule::determinism)
    return fmt::format("two runs differ in {} although a fixed order is declared", finding.tensor);
  const auto tensor = std::ranges::find(report.tensors, finding.tensor, &TensorReport::name);
  if (finding.rule == FindingRule::control && tensor != report.tensors.end())
    return fmt::format("{}: zeros or the negated reference would pass ({})", finding.tensor,
                       tensor->controls);
  return {};
}

std::string evidence_of(const CaseReport& report) {
  if (!report.verdict.evidence.empty()) return report.verdict.evidence;
  if (report.verdict == Verdict::conforms && !report.tensors.empty())
    return of_agreement(report.tensors);
  if (!report.verdict.fact.empty()) return sentence_of(report.verdict.fact);
  const auto decisive =
      std::ranges::find(report.findings, finding_rule_of(report.verdict.rule()), &Finding::rule);
  return decisive == report.findings.end() ? "" : sentence_of(*decisive, report);
}

std::string reason_of(const CaseReport& report) {
  const std::string evidence = evidence_of(report);
  if (evidence.empty()) return {};
  return fmt::format("decided by {}: {}", spec::to_string(report.verdict.rule()), evidence);
}

std::vector<std::string> sentences_first(const CaseReport& report) {
  std::vector<std::string> lines;
  if (std::string reason = reason_of(report); !reason.empty()) lines.push_back(std::move(reason));
  if (report.findings.empty()) return lines;
  std::string first = sentence_of(report.findings.front(), report);
  if (first != evidence_of(report)) lines.push_back(std::move(first));
  return lines;
}

CaseReport with_sentences(CaseReport report) {
  for (Finding& finding : report.findings) finding.text = sentence_of(finding, report);
  report.verdict.evidence = evidence_of(report);
  return report;
}

}  // namespace assay::conformance
