#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "assay/conformance/causes/causes.hpp"
#include "assay/conformance/report/cause_text.hpp"
#include "assay/conformance/report/sentences.hpp"
#include "assay/conformance/result/printable.hpp"
#include "assay/conformance/result/regimes.hpp"
#include "flags/values.hpp"
#include "printing/print_case.hpp"
#include "printing/print_pace.hpp"
#include "printing/table.hpp"

namespace assay::cli {
namespace {

using conformance::CaseReport;
using conformance::Results;
using conformance::Verdict;

/// Maximum number of printed faults and reasons, in full output and in brief output.
constexpr std::size_t faults_shown = 20, faults_shown_briefly = 5;
constexpr std::size_t reasons_shown = 8, reasons_shown_briefly = 3;

/// Returns the command that runs a replay line with the same implementation as these results.
std::string replay(const Results& results, const std::string& program, const std::string& line,
                   const std::string& name) {
  CaseReport report;
  report.command_line = line;
  report.implementation = name;
  if (!results.cases.empty()) report.pair = results.cases.front().pair;
  return conformance::replay_command(report, program);
}

std::string field(const CaseReport& report, std::string_view name) {
  for (const auto& [key, value] : report.fields)
    if (key == name) return value;
  return "-";
}

void print_verdicts(const Results& results, std::ostream& out) {
  std::map<Verdict, std::map<std::string, std::int64_t>> counts;
  std::map<Verdict, std::int64_t> cases;  // counted here: a report's own summary may be wrong
  std::set<std::string> entry_points, dtypes;
  for (const CaseReport& report : results.cases) {
    const std::string entry_point = field(report, "entry_point"), dtype = field(report, "dtype");
    entry_points.insert(entry_point);
    dtypes.insert(dtype);
    ++cases[report.verdict];
    auto& row = counts[report.verdict];
    ++row["entry_point " + entry_point];
    ++row["dtype " + dtype];
  }
  std::vector<std::string> head = {"verdict", "cases"}, keys;
  for (const auto& [kind, names] :
       {std::pair{"entry_point ", &entry_points}, std::pair{"dtype ", &dtypes}})
    for (const std::string& name : *names) {
      head.push_back(name);
      keys.push_back(kind + name);
    }
  Table table(head);
  for (auto& [verdict, row] : counts) {
    std::vector<std::string> cells = {std::string(spec::to_string(verdict)),
                                      std::to_string(cases[verdict])};
    for (const std::string& key : keys) cells.push_back(std::to_string(row[key]));
    table.add(std::move(cells));
  }
  table.print(out);
}

/// Prints the source of the random input data. If all cases have fixed seeds, a kernel could pass
/// with stored results.
void print_data(const Results& results, std::ostream& out) {
  const conformance::Environment& environment = results.environment;
  if (environment.fresh_seed != 0)
    out << fmt::format("\ndata: a tenth of the cases has data of the fresh seed {}\n",
                       environment.fresh_seed);
  else if (environment.seed != 0)
    out << "\ndata: all cases have fixed seeds, so a kernel may know their data\n";
}

/// Joins the ids if there are few of them. Otherwise, for example after a partial sweep, returns
/// only their number.
std::string some(const std::vector<std::string>& ids) {
  constexpr std::size_t most = 12;
  if (ids.empty()) return "none";
  return ids.size() <= most ? joined(ids) : fmt::format("{} of them", ids.size());
}

void print_requirements(const conformance::RequirementCoverage& requirements, std::ostream& out) {
  if (requirements.requirements.empty()) return;
  const auto without_side = std::ranges::count_if(
      requirements.requirements,
      [](const auto& requirement) { return !requirement.has_accept && !requirement.has_reject; });
  out << fmt::format(
      "\nrequirements: {} in all; {} were tested with calls that satisfy them, {} with calls that "
      "break them; no case can test {} of them, 'assay list --coverage' explains why; not tested "
      "in "
      "every way: {}\n",
      requirements.requirements.size(), requirements.accepted(), requirements.rejected(),
      without_side, some(requirements.unexercised()));
}

void print_pairs(const conformance::PairCoverage& pairs, std::ostream& out) {
  if (pairs.cells.empty()) return;
  out << fmt::format(
      "pairs of values: {} of the {} required ones are covered; the others, and why: assay "
      "list --coverage\n"
      "triples of values: {} of the {} possible ones are covered\n",
      pairs.covered(), pairs.admissible(), pairs.covered_triples(), pairs.admissible_triples());
}

/// Shortens a very long replay line, for example a line with thousands of sequence lengths. The
/// report contains the whole line.
std::string shortened(const std::string& line) {
  constexpr std::size_t longest = 1000, kept = 200;
  if (line.size() <= longest) return line;
  return fmt::format("{} ... ({} characters; the report contains the whole line)",
                     line.substr(0, kept), line.size());
}

void print_worst(const Results& results, const std::string& program, Detail detail,
                 std::ostream& out) {
  const auto worst = conformance::worst_errors(results.cases);
  if (worst.empty()) return;
  out << '\n';
  std::vector<std::string> head = {"tensor", "worst error/tau", "case"};
  if (detail == Detail::whole) head.emplace_back("replay");
  Table table(head);
  for (const auto& error : worst) {
    std::vector<std::string> cells = {error.tensor, ratio_text(error.ratio), error.case_id};
    if (detail == Detail::whole)
      cells.push_back(
          shortened(replay(results, program, error.command_line, error.implementation)));
    table.add(std::move(cells));
  }
  table.print(out);
}

/// Prints failing cases with their replay lines. For each, it also prints the smallest case that
/// fails in the same way. If several failing cases lead to the same small case, the small case is
/// printed once.
void print_shrunk(const Results& results, const std::string& program, std::ostream& out) {
  if (results.shrunk.empty()) return;
  out << "\nfailures, each with the smallest case that fails in the same way:\n";
  std::map<std::string, std::string> printed;  // line of the small case -> failing case
  for (const conformance::ShrunkCase& shrunk : results.shrunk) {
    const auto report = std::ranges::find(results.cases, shrunk.id, &CaseReport::id);
    const std::string& name =
        report == results.cases.end() ? results.summary.implementation : report->implementation;
    out << fmt::format("  {}: {}\n", shrunk.id,
                       replay(results, program, shrunk.command_line, name));
    const auto [first, is_new] = printed.emplace(shrunk.shrunk, shrunk.id);
    if (!is_new)
      out << fmt::format("    leads to the same smallest case as {}\n", first->second);
    else if (shrunk.shrunk != shrunk.command_line)
      out << fmt::format("    {}: {}\n", spec::to_string(shrunk.verdict),
                         replay(results, program, shrunk.shrunk, name));
    if (is_new) out << "    " << end_text(shrunk) << '\n';
    if (is_new && !shrunk.declared.empty()) out << "    " << declared_text(shrunk) << '\n';
  }
}

/// Prints one line for each group of cases that failed in the same way; the line names the first
/// and cheapest case. Brief output contains only groups that are not conclusive, because the list
/// of causes describes the failing groups.
void print_failures(const Results& results, const std::string& program, Detail detail,
                    std::ostream& out) {
  const std::size_t shown = detail == Detail::brief ? faults_shown_briefly : faults_shown;
  std::vector<std::pair<const CaseReport*, std::int64_t>> faults;
  std::map<std::string, std::size_t> positions;
  for (const CaseReport& report : results.cases) {
    const conformance::ExitCode code = conformance::contribution(report.verdict);
    if (code == conformance::ExitCode::conformant) continue;
    if (detail == Detail::brief && code == conformance::ExitCode::nonconformant) continue;
    const auto [entry, is_new] = positions.emplace(conformance::fault_of(report), faults.size());
    if (is_new) faults.emplace_back(&report, 0);
    ++faults[entry->second].second;
  }
  if (!faults.empty())
    out << (detail == Detail::brief ? "\nnot conclusive:\n"
                                    : "\nnot conforming or not conclusive:\n");
  std::int64_t left_out = 0;
  for (std::size_t k = 0; k < faults.size(); ++k) {
    const auto& [report, count] = faults[k];
    if (k >= shown) {
      left_out += count;
      continue;
    }
    const std::string like_it = count > 1 ? fmt::format(", {} cases, the first", count) : "";
    if (report->command_line.empty())  // an entry of a file that could not be read
      out << fmt::format("  {}{}: case {}\n", spec::to_string(report->verdict.value()), like_it,
                         report->id);
    else
      out << fmt::format("  {}{}: {}\n", spec::to_string(report->verdict.value()), like_it,
                         conformance::replay_command(*report, program));
    for (const std::string& line : conformance::sentences_first(*report))
      out << "    " << line << '\n';
  }
  if (left_out > 0)
    out << fmt::format(
        "  and {} with {}: {}\n", conformance::counted(left_out, "case"),
        conformance::counted(static_cast<std::int64_t>(faults.size() - shown), "other fault"),
        detail == Detail::brief ? "--verbose prints more" : "the report lists them");
}

/// Prints the reasons why cases were not applicable, the most frequent reason first. Cases have the
/// same reason if the same rule decided them and the kernel gave the same message. Open questions
/// must also be about the same violation, and relations (checks that compare several runs) must be
/// the same relation. The printed sentence comes from the first case.
void print_reasons(const Results& results, Detail detail, std::ostream& out) {
  using Key = std::tuple<conformance::Rule, std::string, std::string, std::optional<std::string>>;
  using Reason = std::pair<std::string, std::int64_t>;
  std::map<Key, Reason> counts;
  for (const CaseReport& report : results.cases)
    if (report.verdict == Verdict::not_applicable && !report.findings.empty()) {
      const conformance::Finding& first = report.findings.front();
      const conformance::Rule rule = report.verdict.rule();
      const bool is_open = rule == conformance::Rule::open_question;
      const bool is_relation = rule == conformance::Rule::domain;
      const Key key(rule, is_open ? field(report, "violate") : "",
                    is_relation ? field(report, "relation") : "", first.message);
      const auto [entry, is_new] = counts.try_emplace(key, sentence_of(first, report), 0);
      ++entry->second.second;
    }
  if (counts.empty()) return;
  std::vector<Reason> reasons;
  for (const auto& [key, reason] : counts) reasons.push_back(reason);
  std::ranges::sort(reasons, {}, &Reason::first);
  std::ranges::stable_sort(reasons, std::greater<>(), &Reason::second);
  out << "\nnot applicable:\n";
  const std::size_t shown = detail == Detail::brief ? reasons_shown_briefly : reasons_shown;
  std::int64_t left_out = 0;
  for (std::size_t k = 0; k < reasons.size(); ++k) {
    const auto& [reason, count] = reasons[k];
    if (k < shown)
      out << fmt::format("  {:5} {}\n", count, reason);
    else
      left_out += count;
  }
  if (left_out > 0)
    out << fmt::format(
        "  {:5} for {}{}\n", left_out,
        conformance::counted(static_cast<std::int64_t>(reasons.size() - shown), "other reason"),
        detail == Detail::brief ? "; --verbose prints more, the HTML page lists each case" : "");
}

void print_regimes(const Results& results, std::ostream& out) {
  Table table({"operator", "regime", "cases", "not conforming", "never together with"});
  for (const conformance::Regime& regime : conformance::regimes_of(results.cases))
    table.add({regime.operator_name, regime.name, std::to_string(regime.cases),
               std::to_string(regime.failing),
               regime.not_with.empty() ? "-" : joined(regime.not_with)});
  if (table.empty()) return;
  out << "\nbranches of the kernel's tiling (regimes), and how many numerically judged cases used "
         "each:\n";
  table.print(out, "  ");
  constexpr std::size_t most_metrics = 100;  // limit of metrics in a report
  if (std::ranges::any_of(results.cases,
                          [](const CaseReport& c) { return c.metrics.size() >= most_metrics; }))
    out << "  if a case has more than 100 metrics, only its first 100 are used\n";
}

/// Prints the causes: conditions that hold for failing cases and not for passing ones. They stand
/// at the end of the output, because users read the end first.
void print_causes(const Results& results, const std::string& program, std::ostream& out) {
  constexpr std::size_t most_causes = 8;
  const std::vector<conformance::Cause> causes =
      conformance::causes_of(results.cases, results.shrunk);
  if (causes.empty()) return;
  const conformance::Summary& summary = results.summary;
  const std::string few = summary.cases < summary.planned
                              ? fmt::format(
                                    "; they are based on {} of {} planned cases, {} judged "
                                    "numerically: a whole sweep may give more information",
                                    summary.cases, summary.planned, summary.value_cases)
                              : "";
  out << fmt::format("\ncauses: {}{}\n",
                     causes.size() == 1 ? "one cause explains every failing "
                                          "case"
                                        : "the most frequent first",
                     few);
  for (std::size_t k = 0; k < std::min(causes.size(), most_causes); ++k) {
    const conformance::Cause& cause = causes[k];
    const std::string stage = cause.stage.empty() ? "" : "stage: " + cause.stage + "\n     ";
    const auto report = std::ranges::find(results.cases, cause.example, &CaseReport::id);
    const std::vector<std::string> seen = conformance::sentences_first(*report);
    out << fmt::format("  {}. {}\n     {}\n     {}", k + 1, pattern_text(cause, results.cases),
                       where_text(cause), stage);
    if (!seen.empty()) out << fmt::format("seen in {}: {}\n     ", cause.example, seen.back());
    for (const conformance::ShrunkCase& shrunk : results.shrunk)
      if (!shrunk.declared.empty() &&
          std::ranges::find(cause.cases, shrunk.id) != cause.cases.end())
        out << declared_text(shrunk) << "\n     ";
    out << judged_text(cause) << "\n     "
        << fmt::format("{} case{}: {}\n", cause.cases.size(), cause.cases.size() == 1 ? "" : "s",
                       cause.line == report->command_line
                           ? conformance::replay_command(*report, program)
                           : replay(results, program, cause.line, report->implementation));
  }
  if (causes.size() > most_causes)
    out << fmt::format("  and {} more, which the report lists\n", causes.size() - most_causes);
}

}  // namespace

void print_results(const Results& results, const std::string& program, Detail detail,
                   std::ostream& out) {
  const auto& summary = results.summary;
  if (!summary.implementation.empty()) out << summary.implementation << ": ";
  out << fmt::format("{}, {} of them judged numerically, {:.1f} s\n\n",
                     conformance::counted(summary.cases, "case"), summary.value_cases,
                     summary.seconds);
  print_verdicts(results, out);
  print_reasons(results, detail, out);
  if (detail == Detail::whole) {
    print_requirements(summary.requirements, out);
    print_pairs(summary.pairs, out);
    print_regimes(results, out);
  }
  print_pace(results, program, out);
  print_data(results, out);
  print_worst(results, program, detail, out);
  print_failures(results, program, detail, out);
  if (detail == Detail::whole) print_shrunk(results, program, out);
  if (detail == Detail::brief)
    out << "\nfor more, such as requirements, regimes and each failure: use --verbose, or the HTML "
           "page\n";
  print_causes(results, program, out);
}

}  // namespace assay::cli
