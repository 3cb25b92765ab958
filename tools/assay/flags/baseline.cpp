#include "flags/baseline.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <set>
#include <sstream>

#include "assay/conformance/operators.hpp"
#include "assay/conformance/plan/case_lines.hpp"
#include "assay/conformance/result/printable.hpp"
#include "flags/case_texts.hpp"
#include "flags/choose.hpp"

namespace assay::cli {
namespace {

using conformance::CaseReport;

/// A day of the calendar, such as 2027-03-31.
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

/// The replay line as reports write it.
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

/// Those that a case of a sweep may have, and that count for its exit code.
std::string failing_verdicts() {
  std::vector<std::string> names;
  for (const auto& [verdict, name] : spec::spellings_of<conformance::Verdict>.entries)
    if (fails(verdict) && verdict != conformance::Verdict::usage_error) names.emplace_back(name);
  return joined(names);
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

void Baseline::read_line(const std::string& line, const std::string& place,
                         const std::string& reason) try {
  std::istringstream stream(line);
  std::string day, verdict, words;
  stream >> day >> verdict >> std::ws;
  std::getline(stream, words);
  if (!is_day(day))
    throw UsageError("'" + day + "', wanted a day such as 2027-03-31, a verdict, a replay line");
  const auto value = spec::spellings_of<conformance::Verdict>.parse(verdict);
  if (!value || !fails(*value) || *value == conformance::Verdict::usage_error)
    throw UsageError("'" + verdict +
                     "', wanted a verdict that counts as a failure: " + failing_verdicts());
  const std::vector<std::string> case_words = conformance::words_of_line(words);
  if (case_words.empty())
    throw UsageError("no replay line stands behind '" + day + " " + verdict +
                     "', wanted a day, a verdict, a replay line");
  Known known{.until = day,
              .line = written_line(case_words),
              .reason = conformance::excerpt(reason),
              .verdict = *value};
  const std::string id = conformance::case_id(known.line);
  if (!by_id_.emplace(id, std::move(known)).second)
    throw UsageError("the case of '" + words + "' is there twice");
} catch (const std::exception& error) {
  throw UsageError(place + ": " + error.what());
}

std::string Baseline::excuse(const CaseReport& report) const {
  const auto known = by_id_.find(report.id);
  if (known == by_id_.end() || !fails(report.verdict) || is_due(known->second) ||
      known->second.verdict != report.verdict.value())
    return {};
  return fmt::format("known until {}{}{}", known->second.until,
                     known->second.reason.empty() ? "" : ": ", known->second.reason);
}

ExitCode Baseline::apply(const conformance::Results& results, std::ostream& out) const {
  conformance::Summary counted = results.summary;
  if (by_id_.empty()) return counted.exit_code();
  const std::string path = conformance::printable(path_);
  std::set<std::string> met;
  std::int64_t known = 0;
  for (const CaseReport& report : results.cases) {
    const auto found = by_id_.find(report.id);
    if (found == by_id_.end()) continue;
    met.insert(report.id);
    const Known& said = found->second;
    if (!excuse(report).empty()) {
      ++known;
      --counted.verdicts[report.verdict.value()];  // it was judged, and what came out was awaited
      ++counted.verdicts[conformance::Verdict::conforms];
    } else if (!fails(report.verdict)) {
      out << fmt::format("{}: fails no more, remove it: {}\n", path, said.line);
    } else if (is_due(said)) {
      out << fmt::format("{}: expired on {}: {}\n", path, said.until, said.line);
    } else {
      out << fmt::format("{}: {}, and not {} as it says: {}\n", path,
                         spec::to_string(report.verdict.value()), spec::to_string(said.verdict),
                         said.line);
    }
  }
  out << fmt::format("{}: {} {} not count, {} of its cases were not run\n", path,
                     conformance::counted(known, "known failure"), known == 1 ? "does" : "do",
                     by_id_.size() - met.size());
  return counted.exit_code();
}

}  // namespace assay::cli
