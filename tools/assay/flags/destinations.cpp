#include "flags/destinations.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "assay/fixtures/descriptor.hpp"
#include "assay/fixtures/record.hpp"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

UsageError refusal(const Destination& destination, std::string_view fact) {
  return UsageError(fmt::format("{} is '{}', which {}", destination.flag, destination.path, fact));
}

/// Follows symbolic links and returns the file that they name. Errors: UsageError for a cycle of
/// links.
fs::path target(const Destination& destination) {
  try {
    return fixtures::followed(destination.path);
  } catch (const fixtures::StoreError&) {
    throw refusal(destination, "is a link in a cycle of links");
  }
}

/// Creates a temporary file without a name in the folder. If the file system does not support such
/// files, creates a file with a name and removes it at once. Returns -1 if no file can be created.
fixtures::Descriptor probe_in(const fs::path& folder) {
  constexpr int flags = O_WRONLY | O_CLOEXEC;
  fixtures::Descriptor unnamed(::open(folder.c_str(), flags | O_TMPFILE, 0600));
  if (unnamed || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) return unnamed;
  std::string name = (folder / ".assay-XXXXXX").string();
  fixtures::Descriptor named(mkostemp(name.data(), O_CLOEXEC));
  if (named) unlink(name.c_str());
  return named;
}

/// Checks that the folder is writable: writes one byte to a temporary file. A missing folder is not
/// created, because the path may be a typing error. Errors: UsageError; fixtures::OutOfResources.
void require_folder(const Destination& destination, const fs::path& file) {
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  const auto refuse = [&](const std::string& why) {
    throw refusal(destination, fmt::format("cannot be written: {}: {}", folder.string(), why));
  };
  std::error_code error;
  if (!fs::exists(folder, error) && (!error || error == std::errc::no_such_file_or_directory))
    refuse("the folder does not exist; create it first, or name another file");
  if (error || !fs::is_directory(folder, error)) refuse("it is not a folder");
  const fixtures::Descriptor probe = probe_in(folder);
  if (!probe && (errno == EMFILE || errno == ENFILE || errno == ENOMEM))
    throw fixtures::OutOfResources(
        fmt::format("{}: {}", destination.path, std::generic_category().message(errno)));
  if (!probe || write(probe.number(), "\n", 1) != 1)
    throw refusal(destination,
                  fmt::format("cannot be written: no file can be created in {}: {}",
                              folder.string(), std::generic_category().message(errno)));
}

/// For each type of result file, the texts by which this program recognizes such a file, including
/// files of earlier versions. Each text must occur in the first `beginning` bytes of the file.
constexpr std::size_t beginning = 4096;
struct Signature {
  TextKind kind;
  std::string_view what, start;
  std::vector<std::string_view> parts;
};

const std::vector<Signature>& signatures() {
  static const std::vector<Signature> all = {
      {TextKind::report, "a report of 'assay'", "{", {"\"schema\"", "\"assay-report-"}},
      {TextKind::page, "a page of 'assay'", "<!DOCTYPE html>", {"<title>Assay report</title>"}},
      {TextKind::junit,
       "JUnit XML of 'assay'",
       "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n <testsuite name=\"",
       {}},
      {TextKind::kills,
       "a table of 'assay mutants'",
       "{",
       {"\"as_expected\"", "\"cases_to_kill\""}},
      {TextKind::trace,
       "a trace of 'assay device plan'",
       "{\"displayTimeUnit\"",
       {"\"traceEvents\""}},
      {TextKind::changes,
       "a file of 'assay report --json'",
       "{",
       {"\"before\"", "\"implementation\"", "\"started\"", "\"now\""}},
  };
  return all;
}

/// Checks a file before it is replaced. Errors: UsageError if the file is neither empty nor a
/// result of this kind.
void require_own_result(const Destination& destination, const fs::path& file) {
  const Signature& own = *std::ranges::find(signatures(), destination.kind, &Signature::kind);
  std::string text(beginning, '\0');
  std::ifstream stream(file, std::ios::binary);
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  const bool is_own = text.starts_with(own.start) && std::ranges::all_of(own.parts, [&](auto part) {
                        return text.find(part) != std::string::npos;
                      });
  if (!text.empty() && !is_own)
    throw refusal(destination, fmt::format("exists and is not {}; other files are not replaced; "
                                           "name another file, or add --force",
                                           own.what));
}

/// Checks a device such as /dev/full. Errors: UsageError if the device rejects writes.
void require_device(const Destination& destination, const fs::path& file) {
  constexpr int flags = O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  const fixtures::Descriptor device(::open(file.c_str(), flags));
  if (!device || write(device.number(), "", 0) < 0)
    throw refusal(destination, "cannot be written: " + std::generic_category().message(errno));
}

void require_text(const Destination& destination, Replace replace) {
  const fs::path file = target(destination);
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (fs::is_directory(status)) throw refusal(destination, "is a folder");
  if (fs::exists(status) && access(file.c_str(), W_OK) != 0)
    throw refusal(destination, "cannot be written: " + std::generic_category().message(errno));
  if (fs::is_character_file(status)) require_device(destination, file);
  if (fs::is_regular_file(status) && replace == Replace::own_results)
    require_own_result(destination, file);
  if (!fs::exists(status) || fs::is_regular_file(status)) require_folder(destination, file);
}

/// Returns whether a command may write several results to this path. This is true for a device such
/// as /dev/null.
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
  // fs::absolute is needed, because weakly_canonical leaves a path relative if its first component
  // does not exist yet.
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

void declare_force(CLI::App& app, Replace& replace) {
  app.add_flag_callback(
      "--force", [&replace] { replace = Replace::anything; },
      "replace existing files, whatever they contain");
}

void require_writable(const std::vector<Destination>& texts, const std::vector<Destination>& others,
                      Replace replace) {
  std::vector<Destination> files = wanted(texts);
  std::ranges::copy(wanted(others), std::back_inserter(files));
  for (std::size_t k = 0; k < files.size(); ++k)
    for (std::size_t earlier = 0; earlier < k; ++earlier)
      if (are_one(files[k], files[earlier]))
        throw refusal(files[k], fmt::format("is the file of {}, too; each flag needs its own file",
                                            files[earlier].flag));
  for (const Destination& text : wanted(texts))
    if (!is_standard_output(text.path)) require_text(text, replace);
}

void require_place_of_folder(const Destination& folder) {
  std::error_code error;
  if (folder.path.empty() || fs::exists(folder.path, error)) return;
  const fs::path parent = fs::absolute(fs::path(folder.path) / ".").parent_path().parent_path();
  if (!fs::is_directory(parent, error))
    throw refusal(folder, fmt::format("cannot be created: {} does not exist; create it first, or "
                                      "name another path",
                                      parent.string()));
}

void require_case_file(const Destination& file, fixtures::CaseFileKind kind) {
  if (file.path.empty()) return;
  if (is_standard_output(file.path))
    throw refusal(file, "is standard output; a case file is HDF5 and needs a file name");
  target(file);
  if (const auto reason = fixtures::destroys(file.path, kind)) throw refusal(file, *reason);
  require_folder(file, target(file));
}

conformance::Sink sink(const std::string& path, const Context& context) {
  if (path.empty()) return {};
  if (is_standard_output(path))
    return [&out = context.out](std::string_view text) { out << text << std::flush; };
  // Makes the path absolute now, because a kernel may change the current folder.
  return [file = fs::absolute(path)](std::string_view text) { fixtures::replace_file(file, text); };
}

Context context_for(const std::vector<Destination>& texts, const Context& context) {
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
