#include "stored/read_results.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <utility>

#include "assay/cli/command.hpp"
#include "flags/input_file.hpp"

namespace assay::cli {
namespace {

/// Errors: UsageError naming the file.
std::string read_file(const std::string& path) {
  constexpr std::size_t most = std::size_t{1} << 30;  // a device may never end
  InputFile input = read_input(path, most);
  if (!input.fault.empty())
    throw UsageError(fmt::format("{} {}, wanted report.json of a sweep", path, input.fault));
  if (is_hdf5(path))
    throw UsageError(path +
                     " is an HDF5 file of cases, not a report; wanted the report.json that "
                     "--report writes: give 'assay sweep' --report=report.json beside --store");
  return std::move(input.text);
}

/// What `parse` makes of the text. Errors: UsageError naming the file.
template <class Parse>
auto parsed(const std::string& path, const std::string& text, const Parse& parse) {
  try {
    return parse(text);
  } catch (const std::invalid_argument& error) {
    throw UsageError(path + ": " + error.what());
  }
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
  return parsed(path, read_file(path), conformance::results_from_json);
}

void read_shown(const std::string& path, Shown& shown) {
  const std::string text = read_file(path);
  if (holds_kills(text)) {
    if (shown.kills) throw UsageError(path + " is a second kill table, and a page shows one");
    shown.kills = parsed(path, text, kills_from_json);
  } else if (holds_timeline(text)) {
    if (shown.timeline) throw UsageError(path + " is a second trace, and a page shows one");
    shown.timeline = parsed(path, text, timeline_from_json);
  } else {
    shown.runs.push_back(parsed(path, text, conformance::results_from_json));
  }
}

}  // namespace assay::cli
