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
  std::string_view what;  ///< for whoever opens the folder
  bool is_program = false;
};

struct KernelTemplate {
  std::string_view kind;
  std::vector<TemplateFile> files;
};

constexpr std::string_view to_edit = "the kernel; its three places to edit are marked EDIT";
constexpr std::string_view to_sweep = "judges it for 20 seconds; it takes flags of 'assay sweep'";
constexpr std::string_view to_test = "fails unless it conforms";

const std::array<KernelTemplate, 4>& templates() {
  static const std::array<KernelTemplate, 4> all = {{
      {"python",
       {{"kernel.py", assets::python_kernel, to_edit},
        {"test_kernel.py", assets::python_test, "a test for 'python3 -m pytest'"},
        {"sweep", assets::python_sweep, to_sweep, true}}},
      {"cpp",
       {{"main.cpp", assets::cpp_kernel, to_edit},
        {"CMakeLists.txt", assets::cpp_build, "its program, and a test for 'ctest'"},
        {"sweep", assets::cpp_sweep, to_sweep, true}}},
      {"plugin",
       {{"kernel.c", assets::plugin_kernel, to_edit},
        {"assay_plugin.h", assets::plugin_header, "what a plug-in offers"},
        {"sweep", assets::plugin_sweep, to_sweep, true},
        {"test", assets::plugin_test, to_test, true}}},
      {"command",
       {{"kernel.py", assets::command_kernel, to_edit},
        {"sweep", assets::command_sweep, to_sweep, true},
        {"test", assets::command_test, to_test, true}}},
  }};
  return all;
}

/// A word of a shell.
std::string quoted(const std::string& text) {
  std::string word = "'";
  for (const char letter : text) word += letter == '\'' ? "'\\''" : std::string(1, letter);
  return word + "'";
}

/// The text with what the machine knows: where the program lies, and how a program that includes
/// Assay finds it. A program in the folder of a build is installed first.
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

/// Errors: UsageError where the file cannot be written.
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
    throw UsageError(fmt::format("'{}' exists: name a folder that is not there yet, or is empty",
                                 wanted.folder));
  fs::create_directories(folder, fault);
  if (fault)
    throw UsageError(
        fmt::format("the folder '{}' cannot be made: {}", wanted.folder, fault.message()));
  for (const TemplateFile& file : chosen.files) {
    write_file(folder / file.name, file);
    context.out << fmt::format("{:16}{}\n", file.name, file.what);
  }
  context.out << fmt::format("written: a kernel that conforms; {} judges it\n",
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
                           "python: a function; cpp: a program of its own; plugin: a library in C; "
                           "command: a program that reads case files")
                ->required();
            app.add_option("folder", wanted->folder,
                           "where it is written; made where it is missing")
                ->required();
            return [wanted](const Context& context) { return write_template(*wanted, context); };
          }};
}

}  // namespace assay::cli
