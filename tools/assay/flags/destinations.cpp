#include "flags/destinations.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "assay/fixtures/record.hpp"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

UsageError refusal(const Destination& destination, std::string_view fact) {
  return UsageError(fmt::format("{} is '{}', which {}", destination.flag, destination.path, fact));
}

/// Where it leads, through links. Errors: UsageError for links in a circle.
fs::path target(const Destination& destination) {
  try {
    return fixtures::followed(destination.path);
  } catch (const fixtures::StoreError&) {
    throw refusal(destination, "is a link that leads in a circle");
  }
}

void require_folder(const Destination& destination, const fs::path& file) {
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw refusal(destination,
                  fmt::format("cannot be written: {}: {}", folder.string(), error.message()));
  if (access(folder.c_str(), W_OK | X_OK) != 0)
    throw refusal(destination,
                  fmt::format("cannot be written: no file can be made in {}", folder.string()));
}

void require_text(const Destination& destination) {
  const fs::path file = target(destination);
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (fs::is_directory(status)) throw refusal(destination, "is a folder");
  if (fs::exists(status) && access(file.c_str(), W_OK) != 0)
    throw refusal(destination, "must not be written");
  if (!fs::exists(status) || fs::is_regular_file(status)) require_folder(destination, file);
}

/// Devices such as the null device may take several results.
bool may_be_shared(const fs::path& file) {
  std::error_code error;
  return fs::is_character_file(file, error);
}

bool are_one(const Destination& a, const Destination& b) {
  if (is_standard_output(a.path) || is_standard_output(b.path)) return a.path == b.path;
  const fs::path first = target(a), second = target(b);
  std::error_code error;
  if (may_be_shared(first)) return false;
  if (fs::equivalent(first, second, error)) return true;
  // What begins with a name that is not there yet would stay relative.
  return fs::weakly_canonical(fs::absolute(first), error) ==
         fs::weakly_canonical(fs::absolute(second), error);
}

std::vector<Destination> wanted(const std::vector<Destination>& all) {
  std::vector<Destination> result;
  std::ranges::copy_if(all, std::back_inserter(result),
                       [](const Destination& destination) { return !destination.path.empty(); });
  return result;
}

}  // namespace

bool is_standard_output(std::string_view path) { return path == "-"; }

void require_writable(const std::vector<Destination>& texts,
                      const std::vector<Destination>& others) {
  std::vector<Destination> files = wanted(texts);
  for (const Destination& text : files)
    if (!is_standard_output(text.path)) require_text(text);
  std::ranges::copy(wanted(others), std::back_inserter(files));
  for (std::size_t k = 0; k < files.size(); ++k)
    for (std::size_t earlier = 0; earlier < k; ++earlier)
      if (are_one(files[k], files[earlier]))
        throw refusal(files[k],
                      fmt::format("{} is, too; each needs a file of its own", files[earlier].flag));
}

void require_case_file(const Destination& file, fixtures::CaseFileKind kind) {
  if (file.path.empty()) return;
  if (is_standard_output(file.path))
    throw refusal(file, "is standard output; a file of cases is HDF5 and needs a name");
  target(file);
  if (const auto reason = fixtures::destroys(file.path, kind)) throw refusal(file, *reason);
  require_folder(file, target(file));
}

conformance::Sink sink(const std::string& path, const Context& context) {
  if (path.empty()) return {};
  if (is_standard_output(path))
    return [&out = context.out](std::string_view text) { out << text << std::flush; };
  // Where it lies is settled now: a kernel may go to another folder.
  return [file = fs::absolute(path)](std::string_view text) { fixtures::replace_file(file, text); };
}

Context beside(const std::vector<Destination>& texts, const Context& context) {
  const bool taken = std::ranges::any_of(
      texts, [](const Destination& text) { return is_standard_output(text.path); });
  return {.registry = context.registry,
          .out = taken ? context.err : context.out,
          .err = context.err,
          .stop = context.stop,
          .terminal = context.terminal,
          .command_line = context.command_line,
          .program = context.program,
          .typed = context.typed,
          .verbose = context.verbose,
          .entropy = context.entropy};
}

}  // namespace assay::cli
