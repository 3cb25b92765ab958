#pragma once

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "assay/cli/main.hpp"
#include "assay/conformance/operators.hpp"
#include "assay/mutants/mutant.hpp"

namespace assay::tests {

using Op = spec::FlashAttentionScoreGrad;

/// The exit code of a command, and the text that it printed.
struct Answer {
  int code;
  std::string out, err;
};

inline std::atomic<bool> never_stop = false;

inline Answer answer(const cli::Registry& registry, std::vector<std::string> words,
                     const std::atomic<bool>& stop = never_stop) {
  std::ostringstream out, err;
  const cli::Context context{
      .registry = registry, .out = out, .err = err, .stop = stop, .command_line = "test"};
  const auto code = static_cast<int>(cli::execute(std::move(words), context));
  return {code, out.str(), err.str()};
}

inline std::vector<std::string> words(const std::string& line) {
  std::istringstream stream(line);
  return {std::istream_iterator<std::string>(stream), {}};
}

/// Returns a registry with the mutants (changed kernels) of these names. The first one is the
/// default implementation.
inline cli::Registry registry_of(const std::vector<std::string>& names) {
  cli::Registry registry;
  for (const std::string& name : names)
    for (const auto& mutant : mutants::mutants<spec::FlashAttentionScoreGrad>())
      if (mutant.name == name)
        registry.add<Op>(
            {.name = name, .summary = mutant.bug, .make = mutant.make, .in_process = true});
  return registry;
}

inline std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// A folder that is removed at the end of the test.
class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "assay-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace assay::tests
