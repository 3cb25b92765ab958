#include "assay/conformance/result/sentences.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <string_view>

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

/// Missing numbers count as 0, because the report may come from another program.
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
  if (deviation.heads.empty()) return "heads have the expected values of others";
  std::string text;
  for (const auto& [head, from] : deviation.heads)
    text += fmt::format("{}n = {} has the expected values of n = {}", text.empty() ? "" : ", ",
                        head, from);
  return text;
}

/// Returns the words that connect the failing elements with the description of their deviation.
std::string_view joined_by(DeviationKind kind) {
  if (kind == DeviationKind::heads) return "; ";
  return kind < DeviationKind::heads ? ", where the output is " : "; it has ";
}

}  // namespace

std::string describe(std::span<const AxisPlace> places) {
  std::string text;
  for (const AxisPlace& place : places) text += (text.empty() ? "all at " : ", ") + text_of(place);
  return text;
}

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

void write_text(Finding& finding) {
  if (!finding.pattern) return;
  const Pattern& pattern = *finding.pattern;
  const std::string places = describe(pattern.places), deviation = describe(pattern.deviation);
  finding.text =
      fmt::format("{} of {} judged elements of {} {}", pattern.failing, pattern.judged,
                  finding.tensor, finding.rule == FindingRule::exact_case ? "differ" : "fail");
  if (!places.empty()) finding.text += ", " + places;
  if (!deviation.empty())
    finding.text += fmt::format("{}{}", joined_by(pattern.deviation.kind), deviation);
}

}  // namespace assay::conformance
