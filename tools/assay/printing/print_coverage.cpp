#include "printing/print_coverage.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "flags/choose.hpp"
#include "printing/table.hpp"

namespace assay::cli {
namespace {

using conformance::PairCoverage;
using conformance::RequirementCoverage;
using Json = nlohmann::ordered_json;

constexpr std::size_t pairs_shown = 20;

/// Returns the reason why no case contains a pair of values: the requirements that together forbid
/// the pair, or another reason.
std::string reason_of(const PairCoverage::Cell& cell) {
  return cell.left_out.empty() ? joined(cell.forbidden_by) : cell.left_out;
}

/// Returns the pairs of values that no case needs to contain, grouped by reason.
std::map<std::string, std::vector<std::string>> unreachable_by_reason(const PairCoverage& pairs) {
  std::map<std::string, std::vector<std::string>> groups;
  for (const PairCoverage::Cell& cell : pairs.cells)
    if (!cell.is_asked()) groups[reason_of(cell)].push_back(cell.text());
  return groups;
}

std::string side(bool has, std::int64_t cases) {
  if (!has) return "-";
  return cases == 0 ? "never" : std::to_string(cases);
}

/// Counts the legal calls and the forbidden calls of a requirement, for each entry point that
/// documents the requirement: "u1 20, 1; u3 4, -".
std::string by_entry_point(const RequirementCoverage::Requirement& requirement) {
  std::string text;
  for (const auto& on : requirement.on)
    text += fmt::format("{}{} {}, {}", text.empty() ? "" : "; ", on.entry_point,
                        side(on.has_accept, on.accepted), side(on.has_reject, on.rejected));
  return text;
}

void print_requirement_coverage(const RequirementCoverage& requirements, std::ostream& out) {
  Table table({"requirement", "accepted", "rejected", "on entry points whose page states it"}),
      others({"requirement that no case can exercise", "why"});
  for (const auto& requirement : requirements.requirements)
    if (requirement.has_accept || requirement.has_reject)
      table.add({requirement.id, side(requirement.has_accept, requirement.accepted),
                 side(requirement.has_reject, requirement.rejected), by_entry_point(requirement)});
    else if (!requirement.reason.empty())
      others.add({requirement.id, requirement.reason});
  table.print(out);
  const auto unexercised = requirements.unexercised();
  out << fmt::format(
      "not exercised by any case (requirements that a call can satisfy or break; their "
      "variants, violations, and entry points whose pages state them): {}\n\n",
      unexercised.empty() ? "none" : joined(unexercised));
  others.print(out);
  out << '\n';
}

void print_refusable_calls(const conformance::RefusableCalls& calls, std::ostream& out) {
  out << fmt::format("legal calls that a kernel may refuse without failing: {} of {}\n",
                     calls.refusable, calls.legal);
  Table table({"since they break", "standing", "calls"});
  for (const auto& reason : calls.reasons)
    table.add({reason.id, reason.standing, std::to_string(reason.cases)});
  if (!calls.reasons.empty()) table.print(out);
  out << '\n';
}

Json calls_json(const conformance::RefusableCalls& calls) {
  Json reasons = Json::array();
  for (const auto& reason : calls.reasons)
    reasons.push_back({{"id", reason.id}, {"standing", reason.standing}, {"calls", reason.cases}});
  return {{"legal", calls.legal}, {"refusable", calls.refusable}, {"reasons", std::move(reasons)}};
}

Json entry_points_json(const RequirementCoverage::Requirement& requirement) {
  Json all = Json::object();
  for (const auto& on : requirement.on)
    all[on.entry_point] = {{"has_accept", on.has_accept},
                           {"has_reject", on.has_reject},
                           {"accepted", on.accepted},
                           {"rejected", on.rejected}};
  return all;
}

void print_uncovered(const PairCoverage& pairs, std::ostream& out) {
  const auto uncovered = pairs.uncovered();
  for (std::size_t k = 0; k < uncovered.size() && k < pairs_shown; ++k)
    out << "  not covered: " << uncovered[k] << '\n';
  if (uncovered.size() > pairs_shown)
    out << fmt::format("  and {} more, see --json\n", uncovered.size() - pairs_shown);
}

void print_sizes(const std::vector<conformance::SizeCoverage>& sizes, std::ostream& out) {
  if (sizes.empty()) return;
  Table table(
      {"size", "numbers", "least", "most", "cases beyond",
       fmt::format("legal values that the plans of {} seeds do not contain", seeds_of_sizes)});
  for (const auto& size : sizes)
    table.add({size.name, std::to_string(size.values.size()), std::to_string(*size.values.begin()),
               std::to_string(*size.values.rbegin()),
               size.counted == 0 ? "-" : fmt::format("{}: {}", size.counted, size.beyond),
               size.legal.empty()     ? "-"
               : size.missing.empty() ? "none"
                                      : fmt::format("{}", fmt::join(size.missing, ", "))});
  out << '\n';
  table.print(out);
}

void print_fields(const std::vector<conformance::FieldCoverage>& fields, std::ostream& out) {
  if (fields.empty()) return;
  Table table({"field of a formula", "combinations",
               "combinations in which no output depends on the field"});
  for (const auto& field : fields)
    table.add({field.field, std::to_string(field.places),
               field.unexcited.empty() ? "none" : joined(field.unexcited)});
  out << '\n';
  table.print(out);
}

Json fields_json(const std::vector<conformance::FieldCoverage>& fields) {
  Json all = Json::object();
  for (const auto& field : fields)
    all[field.field] = {{"places", field.places}, {"unexcited", field.unexcited}};
  return all;
}

Json sizes_json(const std::vector<conformance::SizeCoverage>& sizes) {
  Json all = Json::object();
  for (const auto& size : sizes) {
    all[size.name] = {{"numbers", size.values}};
    if (size.counted > 0) all[size.name]["counted"] = size.counted;
    if (size.counted > 0) all[size.name]["cases_beyond"] = size.beyond;
    if (!size.legal.empty()) all[size.name]["in_no_seed"] = size.missing;
  }
  return all;
}

double percent(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

void print_coverage(const Coverage& coverage, std::ostream& out) {
  print_requirement_coverage(coverage.requirements, out);
  if (coverage.calls) print_refusable_calls(*coverage.calls, out);
  const PairCoverage& pairs = coverage.pairs;
  const std::int64_t forbidden = pairs.forbidden(), left_out = pairs.unreachable() - forbidden;
  out << fmt::format(
      "pairs of values on the axes: {}; requirements forbid {}, {} are excluded for other reasons, "
      "{} of the {} required ones are covered ({:.1f} %)\n",
      pairs.cells.size(), forbidden, left_out, pairs.covered(), pairs.admissible(),
      percent(pairs.covered(), pairs.admissible()));
  print_uncovered(pairs, out);
  for (const PairCoverage::Triples& triples : pairs.triples)
    out << fmt::format(
        "triples of values of {}: {} of the {} possible ones are covered ({:.1f} %)\n",
        triples.operator_name, triples.covered(), triples.admissible,
        percent(triples.covered(), triples.admissible));
  out << '\n';
  Table table(
      {"requirement that forbids them, or reason for the exclusion", "pairs", "for example"});
  for (const auto& [reason, texts] : unreachable_by_reason(pairs))
    table.add({reason, std::to_string(texts.size()), texts.front()});
  table.print(out);
  print_sizes(coverage.sizes, out);
  print_fields(coverage.fields, out);
}

Json coverage_json(const Coverage& coverage) {
  Json requirements = Json::array();
  for (const auto& requirement : coverage.requirements.requirements)
    requirements.push_back({{"id", requirement.id},
                            {"has_accept", requirement.has_accept},
                            {"has_reject", requirement.has_reject},
                            {"accepted", requirement.accepted},
                            {"rejected", requirement.rejected},
                            {"entry_points", entry_points_json(requirement)},
                            {"reason", requirement.reason}});
  Json unreachable = Json::object();
  for (const auto& [reason, texts] : unreachable_by_reason(coverage.pairs))
    unreachable[reason] = texts;
  return {{"requirements", std::move(requirements)},
          {"unexercised", coverage.requirements.unexercised()},
          {"refusable_calls", coverage.calls ? calls_json(*coverage.calls) : Json()},
          {"pairs",
           {{"total", coverage.pairs.cells.size()},
            {"admissible", coverage.pairs.admissible()},
            {"forbidden", coverage.pairs.forbidden()},
            {"covered", coverage.pairs.covered()},
            {"uncovered", coverage.pairs.uncovered()},
            {"unreachable", std::move(unreachable)}}},
          {"triples",
           {{"admissible", coverage.pairs.admissible_triples()},
            {"covered", coverage.pairs.covered_triples()}}},
          {"sizes", sizes_json(coverage.sizes)},
          {"fields", fields_json(coverage.fields)}};
}

}  // namespace assay::cli
