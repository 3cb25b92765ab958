#include "flags/foreign.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <vector>

#include "assay/fixtures/record.hpp"
#include "flags/values.hpp"
#include "guide/guide.hpp"

namespace assay::cli {
namespace {

const std::vector<std::string> schemes = {"aclnn", "plugin", "command"};

}  // namespace

std::optional<Foreign> foreign(const std::string& name) {
  const std::size_t colon = name.find(':');
  if (colon == std::string::npos) return std::nullopt;
  return Foreign{.scheme = name.substr(0, colon), .rest = name.substr(colon + 1)};
}

void require_scheme(const Foreign& foreign, const std::string& flag) {
  if (std::ranges::find(schemes, foreign.scheme) != schemes.end()) return;
  const std::string name = foreign.scheme + ":" + foreign.rest;
  if (foreign.scheme == "python" || foreign.scheme.ends_with(".py")) {
    std::string function = foreign.scheme == "python" ? foreign.rest : name;
    if (function.find(':') == std::string::npos) function += ":FUNCTION";
    throw UsageError(
        fmt::format("{} is '{}', a Python function: write 'command:python3 -m assay serve {}', "
                    "where python3 must have the package assay installed",
                    flag, name, function));
  }
  throw UsageError(fmt::format("{} is '{}'{}", flag, name,
                               one_of(foreign.scheme, schemes,
                                      "a name that is not registered must start "
                                      "with")));
}

std::string content_digest(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (!file) throw UsageError(path.string() + " cannot be read, so its digest cannot be computed");
  return fixtures::digest(std::as_bytes(std::span(bytes)));
}

namespace {

bool is_file(const std::filesystem::path& path) {
  std::error_code none;
  return std::filesystem::is_regular_file(path, none);
}

/// Returns FILE if the word has the form "FILE" or "FILE:NAME" and the file exists; otherwise an
/// empty path.
std::filesystem::path file_of(const std::string& word) {
  if (is_file(word)) return word;
  const std::string before = word.substr(0, word.rfind(':'));
  return is_file(before) ? before : "";
}

}  // namespace

std::string fingerprint(const std::string& name) {
  const auto known = foreign(name);
  if (!known) return "";
  std::string text;
  for (std::size_t from = 0; from < known->rest.size();) {
    const std::size_t end = std::min(known->rest.find_first_of(" ,='\"", from), known->rest.size());
    const std::filesystem::path path = file_of(known->rest.substr(from, end - from));
    if (!path.empty()) text += fmt::format(" {} {}", path.string(), content_digest(path));
    from = end + 1;
  }
  return text;
}

}  // namespace assay::cli
