#include "read_results.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "assay/cli/command.hpp"

namespace assay::cli {

conformance::Results read_results(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    throw UsageError(path + " is a folder, wanted report.json of a sweep");
  std::ifstream file(path, std::ios::binary);
  if (!file) throw UsageError(path + " cannot be opened for reading");
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad()) throw UsageError(path + " cannot be read");
  try {
    return conformance::results_from_json(text);
  } catch (const std::invalid_argument& error) {
    throw UsageError(path + ": " + error.what());
  }
}

}  // namespace assay::cli
