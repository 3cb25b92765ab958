#include "stored/read_results.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "assay/cli/command.hpp"
#include "flags/input_file.hpp"

namespace assay::cli {
namespace {

/// Reads the text of a report file. Errors: UsageError that names the file.
std::string read_file(const std::string& path) {
  constexpr std::size_t most = std::size_t{1} << 30;  // bytes: a device may never end
  InputFile input = read_input(path, most);
  if (!input.fault.empty())
    throw UsageError(fmt::format(
        "{} {}; expected report.json of a sweep: 'assay sweep --report=report.json' writes one",
        path, input.fault));
  if (is_hdf5(path))
    throw UsageError(path +
                     " is an HDF5 file of cases, not a report; expected the report.json that "
                     "--report writes: give 'assay sweep' --report=report.json with --store");
  return std::move(input.text);
}

/// Calls `parse` with the text of a file and returns the result. Errors: UsageError that names the
/// file.
template <class Parse>
auto parsed(const std::string& path, const std::string& text, const Parse& parse) {
  try {
    return parse(text);
  } catch (const std::invalid_argument& error) {
    throw UsageError(path + ": " + error.what());
  }
}

constexpr const char* was_edited =
    "the file was changed after its sweep; run the sweep again to get a correct report";

/// Checks the tensors in a report. Errors: std::invalid_argument if more rows of a tensor were
/// judged than the tensor has, or if an error exceeds the tolerance in a case that passes.
void require_tensors(const conformance::Results& results) {
  for (const conformance::CaseReport& report : results.cases) {
    for (const conformance::TensorReport& tensor : report.tensors)
      if (tensor.rows_judged < 0 || tensor.rows_judged > tensor.rows_total)
        throw std::invalid_argument(
            fmt::format("report.cases: {} rows of tensor {} were judged in case {}, but the tensor "
                        "has only {} rows: {}",
                        tensor.rows_judged, tensor.name, report.id, tensor.rows_total, was_edited));
    if (report.verdict != conformance::Verdict::conforms) continue;
    for (const conformance::TensorReport& tensor : report.tensors)
      if (!(tensor.worst <= 1))
        throw std::invalid_argument(fmt::format(
            "report.cases: {} conforms, but {} has an error of {} times its tolerance: {}",
            report.id, tensor.name, tensor.worst, was_edited));
  }
}

/// Checks the summary of a report. Errors: std::invalid_argument if the counts differ from the
/// cases in the report.
void require_counts(const conformance::Results& results) {
  const conformance::Summary& stated = results.summary;
  conformance::Summary held;
  held.cases = std::ssize(results.cases);
  for (const conformance::CaseReport& report : results.cases) {
    held.value_cases += report.value_case ? 1 : 0;
    ++held.verdicts[report.verdict.value()];
  }
  const auto require = [](std::string_view member, std::int64_t says, std::int64_t counted) {
    if (says == counted) return;
    throw std::invalid_argument(
        fmt::format("report.summary.{} is {}, but report.cases contains {}: {}", member, says,
                    counted, was_edited));
  };
  require("cases", stated.cases, held.cases);
  require("value_cases", stated.value_cases, held.value_cases);
  for (const auto& [verdict, count] : stated.verdicts)
    require("verdicts." + std::string(spec::to_string(verdict)), count, held.verdicts[verdict]);
  for (const auto& [verdict, count] : held.verdicts)
    if (!stated.verdicts.contains(verdict))
      require("verdicts." + std::string(spec::to_string(verdict)), 0, count);
}

conformance::Results whole_results(const std::string& text) {
  conformance::Results results = conformance::results_from_json(text);
  require_counts(results);
  require_tensors(results);
  return results;
}

}  // namespace

bool is_hdf5(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return false;
  constexpr std::array<char, 8> signature = {'\x89', 'H', 'D', 'F', '\r', '\n', '\x1a', '\n'};
  std::array<char, 8> beginning = {};
  std::ifstream(path, std::ios::binary).read(beginning.data(), beginning.size());
  return beginning == signature;
}

conformance::Results read_results(const std::string& path) {
  return parsed(path, read_file(path), whole_results);
}

void read_shown(const std::string& path, Shown& shown) {
  const std::string text = read_file(path);
  if (holds_kills(text)) {
    if (shown.kills) throw UsageError(path + " is a second kill table, but a page shows only one");
    shown.kills = parsed(path, text, kills_from_json);
  } else if (holds_timeline(text)) {
    if (shown.timeline) throw UsageError(path + " is a second trace, but a page shows only one");
    shown.timeline = parsed(path, text, timeline_from_json);
  } else {
    shown.runs.push_back(parsed(path, text, whole_results));
  }
}

}  // namespace assay::cli
