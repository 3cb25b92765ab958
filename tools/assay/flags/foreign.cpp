#include "flags/foreign.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "flags/values.hpp"

namespace assay::cli {
namespace {

const std::vector<std::string> schemes = {"aclnn", "plugin", "command"};

}  // namespace

std::optional<Foreign> foreign(const std::string& name) {
  const std::size_t colon = name.find(':');
  if (colon == std::string::npos) return std::nullopt;
  return Foreign{.scheme = name.substr(0, colon), .rest = name.substr(colon + 1)};
}

void require_scheme(const Foreign& foreign) {
  if (std::ranges::find(schemes, foreign.scheme) != schemes.end()) return;
  throw UsageError(
      fmt::format("--implementation is '{}:{}'; what is not registered is opened by {}",
                  foreign.scheme, foreign.rest, joined(schemes)));
}

std::string fingerprint(const std::string& name) {
  const auto known = foreign(name);
  if (!known) return "";
  std::string text;
  for (std::size_t from = 0; from < known->rest.size();) {
    const std::size_t end = std::min(known->rest.find_first_of(" ,=", from), known->rest.size());
    const std::filesystem::path path = known->rest.substr(from, end - from);
    std::error_code none;
    if (std::filesystem::is_regular_file(path, none))
      text += fmt::format(" {} {} {}", path.string(), std::filesystem::file_size(path, none),
                          std::filesystem::last_write_time(path, none).time_since_epoch().count());
    from = end + 1;
  }
  return text;
}

}  // namespace assay::cli
