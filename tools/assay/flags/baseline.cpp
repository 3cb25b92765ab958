#include "flags/baseline.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <map>
#include <sstream>
#include <utility>
#include <vector>

#include "assay/conformance/operators.hpp"
#include "assay/conformance/plan/case_lines.hpp"
#include "assay/conformance/result/printable.hpp"
#include "flags/case_texts.hpp"
#include "flags/choose.hpp"
#include "flags/plan_flags.hpp"

namespace assay::cli {
namespace {

using conformance::CaseReport;

/// Returns whether the text is a calendar date such as 2027-03-31.
bool is_day(const std::string& text) {
  constexpr std::string_view shape = "dddd-dd-dd";
  if (!std::ranges::equal(text, shape, [](char letter, char wanted) {
        return wanted == 'd' ? letter >= '0' && letter <= '9' : letter == wanted;
      }))
    return false;
  const auto number = [&](std::size_t at, std::size_t digits) {
    return std::stoi(text.substr(at, digits));
  };
  return std::chrono::year_month_day(std::chrono::year(number(0, 4)),
                                     std::chrono::month(static_cast<unsigned int>(number(5, 2))),
                                     std::chrono::day(static_cast<unsigned int>(number(8, 2))))
      .ok();
}

/// Joins the words of a replay line in the form that reports use.
std::string written_line(const std::vector<std::string>& words) {
  std::string line;
  with_operators(words.front(), [&]<class Op> {
    line = conformance::command_line(conformance::parse_case<Op>({words.begin() + 1, words.end()}));
  });
  return line;
}

bool fails(conformance::Verdict verdict) {
  return conformance::contribution(verdict) != ExitCode::conformant;
}

/// Lists the verdicts that a sweep counts as failures in its exit code.
std::string failing_verdicts() {
  std::vector<std::string> names;
  for (const auto& [verdict, name] : spec::spellings_of<conformance::Verdict>.entries)
    if (fails(verdict) && verdict != conformance::Verdict::usage_error) names.emplace_back(name);
  return joined(names);
}

/// Returns whether the words after the verdict are a condition on fields. Otherwise they are a
/// replay line.
bool is_condition(const std::string& words) {
  return words.find_first_of("<>=") != std::string::npos && words.find("--") == std::string::npos;
}

/// Returns the texts and fields of a judged case in the form that --only searches.
Searched searchable(const CaseReport& report) {
  Searched searched{.text = report.command_line + '\n' + report.note + '\n',
                    .fields = report.fields};
  for (const auto& [name, value] : searched.fields) searched.text += " --" + name + "=" + value;
  searched.text += ' ';
  searched.fields.emplace_back("operator", report.operator_name);
  searched.fields.emplace_back("violated", report.violated_requirement);
  return searched;
}

}  // namespace

Baseline::Baseline(const std::string& path)
    : path_(path), today_(fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)))) {
  std::istringstream file(text_of_file("--baseline", path));
  std::string reason, line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) {
      reason.clear();
    } else if (line.starts_with('#')) {
      reason += (reason.empty() ? "" : " ") +
                line.substr(std::min(line.size(), line.find_first_not_of("# ")));
    } else {
      read_line(line, fmt::format("{}:{}", path, number), reason);
    }
  }
}

Baseline::Known Baseline::read_case(const std::string& words) const {
  if (is_condition(words))
    return {.until = {},
            .line = words,
            .reason = {},
            .condition = Filter("the condition", words, names_of_fields())};
  const std::vector<std::string> case_words = conformance::words_of_line(words);
  if (case_words.empty()) throw UsageError("no replay line or condition follows the verdict");
  return {.until = {}, .line = written_line(case_words), .reason = {}};
}

void Baseline::read_line(const std::string& line, const std::string& place,
                         const std::string& reason) try {
  std::istringstream stream(line);
  std::string day, verdict, words;
  stream >> day >> verdict >> std::ws;
  std::getline(stream, words);
  words.erase(words.find_last_not_of(" \t\r") + 1);
  if (!is_day(day))
    throw UsageError("'" + day +
                     "'; expected a date such as 2027-03-31, a verdict, and a replay line or a "
                     "condition such as dtype=fp16");
  const auto value = spec::spellings_of<conformance::Verdict>.parse(verdict);
  if (!value || !fails(*value) || *value == conformance::Verdict::usage_error)
    throw UsageError("'" + verdict +
                     "'; expected a verdict that counts as a failure: " + failing_verdicts());
  Known known = read_case(words);
  known.until = day;
  known.reason = conformance::excerpt(reason);
  known.verdict = *value;
  if (!known.condition && !by_id_.emplace(conformance::case_id(known.line), entries_.size()).second)
    throw UsageError("the case of '" + words + "' is listed twice");
  entries_.push_back(std::move(known));
} catch (const std::exception& error) {
  throw UsageError(place + ": " + error.what());
}

bool Baseline::excuses(const Known& known, const CaseReport& report) const {
  return fails(report.verdict) && !has_expired(known) && known.verdict == report.verdict.value();
}

const Baseline::Known* Baseline::entry_of(const CaseReport& report) const {
  if (const auto own = by_id_.find(report.id); own != by_id_.end()) return &entries_[own->second];
  const Known* first = nullptr;
  for (const Known& known : entries_) {
    if (!known.condition || !known.condition->holds(searchable(report))) continue;
    if (excuses(known, report)) return &known;
    if (first == nullptr) first = &known;
  }
  return first;
}

std::string Baseline::excuse(const CaseReport& report) const {
  const Known* const known = entry_of(report);
  if (known == nullptr || !excuses(*known, report)) return {};
  return fmt::format("known until {}{}{}", known->until, known->reason.empty() ? "" : ": ",
                     known->reason);
}

void Baseline::print_stale(const Known& known, const CaseReport& report, std::ostream& out) const {
  const std::string path = conformance::printable(path_);
  if (!fails(report.verdict)) {
    out << fmt::format("{}: this case no longer fails, remove its line: {}\n", path, known.line);
  } else if (has_expired(known)) {
    out << fmt::format("{}: expired on {}: {}\n", path, known.until, known.line);
  } else {
    out << fmt::format("{}: the verdict is {}, not {} as listed: {}\n", path,
                       spec::to_string(report.verdict.value()), spec::to_string(known.verdict),
                       known.condition ? report.command_line : known.line);
  }
}

ExitCode Baseline::apply(const conformance::Results& results, std::ostream& out) const {
  conformance::Summary counted = results.summary;
  if (entries_.empty()) return counted.exit_code();
  std::map<const Known*, std::vector<const CaseReport*>> cases;
  for (const CaseReport& report : results.cases)
    if (const Known* const known = entry_of(report)) cases[known].push_back(&report);
  std::int64_t excused = 0, not_run = 0;
  for (const Known& known : entries_) {
    const std::vector<const CaseReport*>& own = cases[&known];
    if (own.empty()) ++not_run;
    std::int64_t failing = 0;
    for (const CaseReport* report : own) {
      if (fails(report->verdict)) ++failing;
      if (!excuses(known, *report)) continue;
      ++excused;
      --counted.verdicts[report->verdict.value()];  // the failure was known, so it does not count
      ++counted.verdicts[conformance::Verdict::conforms];
    }
    // A condition may also match cases that pass, as long as at least one matching case fails.
    const auto stale = std::ranges::find_if(own, [&](const CaseReport* report) {
      return !excuses(known, *report) && (failing == 0 || fails(report->verdict));
    });
    if (stale != own.end()) print_stale(known, **stale, out);
  }
  out << fmt::format("{}: {} {} not count, {} of its {} were not run\n",
                     conformance::printable(path_), conformance::counted(excused, "known failure"),
                     excused == 1 ? "does" : "do", not_run,
                     by_id_.size() == entries_.size() ? "cases" : "lines");
  return counted.exit_code();
}

}  // namespace assay::cli
