#include "flags/baseline.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <set>
#include <sstream>

#include "assay/conformance/case/record.hpp"
#include "assay/conformance/operators.hpp"
#include "assay/conformance/report/printable.hpp"
#include "flags/case_texts.hpp"
#include "flags/choose.hpp"

namespace assay::cli {
namespace {

using conformance::CaseReport;

bool is_day(const std::string& text) {
  constexpr std::string_view shape = "dddd-dd-dd";
  return text.size() == shape.size() &&
         std::ranges::equal(text, shape, [](char letter, char wanted) {
           return wanted == 'd' ? letter >= '0' && letter <= '9' : letter == wanted;
         });
}

/// The replay line as reports write it.
std::string written_line(const std::string& words) {
  std::istringstream stream(words);
  std::string name, line;
  stream >> name;
  with_operators(name, [&]<class Op> {
    line = conformance::command_line(
        conformance::parse_case<Op>(conformance::case_words(words, Op::name)));
  });
  return line;
}

bool fails(const CaseReport& report) {
  return conformance::contribution(report.verdict) != ExitCode::conformant;
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
  const auto& verdicts = spec::spellings_of<conformance::Verdict>;
  const auto value = verdicts.parse(verdict);
  if (!value) throw UsageError("'" + verdict + "', wanted one of " + verdicts.choices());
  Known known{.until = day,
              .line = written_line(words),
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
  if (known == by_id_.end() || !fails(report) || is_due(known->second) ||
      known->second.verdict != report.verdict.value)
    return {};
  return fmt::format("known until {}{}{}", known->second.until,
                     known->second.reason.empty() ? "" : ": ", known->second.reason);
}

ExitCode Baseline::apply(const conformance::Results& results, std::ostream& out) const {
  conformance::Summary counted = results.summary;
  if (by_id_.empty()) return counted.exit_code();
  std::set<std::string> met;
  std::int64_t known = 0;
  for (const CaseReport& report : results.cases) {
    const auto found = by_id_.find(report.id);
    if (found == by_id_.end()) continue;
    met.insert(report.id);
    const Known& said = found->second;
    if (!excuse(report).empty()) {
      ++known;
      --counted.verdicts[report.verdict.value];  // it was judged, and what came out was awaited
      ++counted.verdicts[conformance::Verdict::conforms];
    } else if (!fails(report)) {
      out << fmt::format("{}: fails no more, remove it: {}\n", path_, said.line);
    } else if (is_due(said)) {
      out << fmt::format("{}: expired on {}: {}\n", path_, said.until, said.line);
    } else {
      out << fmt::format("{}: {}, and not {} as it says: {}\n", path_,
                         spec::to_string(report.verdict.value), spec::to_string(said.verdict),
                         said.line);
    }
  }
  out << fmt::format("{}: {} known failures do not count, {} of its cases were not run\n", path_,
                     known, by_id_.size() - met.size());
  return counted.exit_code();
}

}  // namespace assay::cli
