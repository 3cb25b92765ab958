#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "assay/conformance/result/printable.hpp"
#include "commands/commands.hpp"
#include "guide/guide.hpp"
#include "templates/templates.hpp"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

struct TemplateFile {
  std::string_view name;
  std::string_view (*text)();
  std::string_view what;  ///< description for the user
  bool is_program = false;
};

struct KernelTemplate {
  std::string_view kind;
  std::vector<TemplateFile> files;
};

constexpr std::string_view to_edit = "the kernel; its three places to edit are marked EDIT";
constexpr std::string_view to_sweep =
    "judges the kernel for 20 seconds; accepts flags of 'assay "
    "sweep'";
constexpr std::string_view to_test = "fails unless the kernel conforms";

const std::array<KernelTemplate, 4>& templates() {
  static const std::array<KernelTemplate, 4> all = {{
      {"python",
       {{"kernel.py", assets::python_kernel, to_edit},
        {"test_kernel.py", assets::python_test, "a test for 'python3 -m pytest'"},
        {"sweep", assets::python_sweep, to_sweep, true}}},
      {"cpp",
       {{"main.cpp", assets::cpp_kernel, to_edit},
        {"CMakeLists.txt", assets::cpp_build,
         "builds the kernel's program, with a test for "
         "'ctest'"},
        {"sweep", assets::cpp_sweep, to_sweep, true}}},
      {"plugin",
       {{"kernel.c", assets::plugin_kernel, to_edit},
        {"assay_plugin.h", assets::plugin_header, "the interface of a plug-in"},
        {"sweep", assets::plugin_sweep, to_sweep, true},
        {"test", assets::plugin_test, to_test, true}}},
      {"command",
       {{"kernel.py", assets::command_kernel, to_edit},
        {"sweep", assets::command_sweep, to_sweep, true},
        {"test", assets::command_test, to_test, true}}},
  }};
  return all;
}

/// Puts the text into single quotes, so that a shell reads it as one word.
std::string quoted(const std::string& text) {
  std::string word = "'";
  for (const char letter : text) word += letter == '\'' ? "'\\''" : std::string(1, letter);
  return word + "'";
}

/// Fills in the marks in a template: the path of this program, and the commands by which a user's
/// program finds Assay as a library. If this program runs from a build folder, these commands first
/// install Assay.
std::string filled_in(std::string text) {
  const fs::path program = fs::read_symlink("/proc/self/exe");
  const fs::path build = program.parent_path().parent_path();
  const bool is_built_here = fs::exists(build / "CMakeCache.txt");
  const std::array<std::pair<std::string_view, std::string>, 3> facts = {
      {{"@ASSAY@", quoted(program)},
       {"@INSTALL@", is_built_here
                         ? fmt::format("[ -d \"$prefix\" ] || cmake --install {} --prefix "
                                       "\"$prefix\" > /dev/null || exit 2",
                                       quoted(build))
                         : "# Assay is installed there."},
       {"@PREFIX@", is_built_here ? "$PWD/assay" : quoted(build)}}};
  for (const auto& [mark, fact] : facts)
    for (std::size_t at = 0; (at = text.find(mark, at)) != text.npos; at += fact.size())
      text.replace(at, mark.size(), fact);
  return text;
}

/// Writes one file of a template. Errors: UsageError if the file cannot be written.
void write_file(const fs::path& path, const TemplateFile& file) {
  std::string text(file.text());
  text.pop_back();
  std::ofstream out(path);
  out << filled_in(std::move(text)) << std::flush;
  if (!out)
    throw UsageError(fmt::format("{} cannot be written: {}", path.string(), std::strerror(errno)));
  if (file.is_program)
    fs::permissions(path, fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec,
                    fs::perm_options::add);
}

struct Wanted {
  std::string kind, folder;
};

/// Errors: UsageError.
const KernelTemplate& chosen_template(const std::string& kind) {
  std::vector<std::string> kinds;
  for (const KernelTemplate& one : templates()) {
    kinds.emplace_back(one.kind);
    if (one.kind == kind) return one;
  }
  throw UsageError(fmt::format("no kernel of kind '{}'{}", kind, one_of(kind, kinds, "there are")));
}

ExitCode write_template(const Wanted& wanted, const Context& context) {
  const KernelTemplate& chosen = chosen_template(wanted.kind);
  const fs::path folder(wanted.folder);
  std::error_code fault;
  if (fs::exists(folder, fault) && !fs::is_empty(folder, fault))
    throw UsageError(fmt::format("'{}' exists: name a folder that does not exist yet, or is empty",
                                 wanted.folder));
  fs::create_directories(folder, fault);
  if (fault)
    throw UsageError(
        fmt::format("the folder '{}' cannot be created: {}", wanted.folder, fault.message()));
  for (const TemplateFile& file : chosen.files) {
    write_file(folder / file.name, file);
    context.out << fmt::format("{:16}{}\n", file.name, file.what);
  }
  context.out << fmt::format("wrote a kernel that conforms; to judge it, run {}\n",
                             conformance::printable((folder / "sweep").string()));
  return ExitCode::conformant;
}

}  // namespace

Command new_command() {
  return {.name = "new",
          .summary = "write a kernel to start from, with its sweep and its test, into a folder",
          .declare = [](CLI::App& app, const Registry&) -> Action {
            const auto wanted = std::make_shared<Wanted>();
            app.add_option("template", wanted->kind,
                           "python: a function; cpp: a separate program; plugin: a C library; "
                           "command: a program that reads case files")
                ->required();
            app.add_option("folder", wanted->folder, "folder to write to; created if missing")
                ->required();
            return [wanted](const Context& context) { return write_template(*wanted, context); };
          }};
}

}  // namespace assay::cli
