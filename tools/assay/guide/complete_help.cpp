#include "guide/complete_help.hpp"

#include <CLI/CLI.hpp>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "guide/examples.hpp"

namespace assay::cli {
namespace {

/// Maps the name of a flag or positional argument (without dashes) to the kind of its value, as the
/// help prints it. If one command uses the name differently, its entry begins with the name of the
/// command.
const std::map<std::string_view, const char*> kinds = {
    {"as", "<format>"},
    {"baseline", "<file>"},
    {"before", "<report.json>"},
    {"budget", "<time>"},
    {"case", "<id>"},
    {"cases", "<file or folder>"},
    {"command", "<command>"},
    {"device", "<a2|a3|b1|b3|b4>"},
    {"documents", "<lenient|strict>"},
    {"file", "<file.h5>"},
    {"folder", "<folder>"},
    {"format", "<format>"},
    {"forward", "<name or scheme>"},
    {"fresh", "<seed or off>"},
    {"html", "<page.html>"},
    {"id", "<id or line>"},
    {"implementation", "<name or scheme>"},
    {"json", "<changes.json>"},
    {"junit", "<file.xml>"},
    {"kernel", "<name or scheme>"},
    {"kind", "<list>"},
    {"largest", "<elements>"},
    {"last-failed", "<report.json>"},
    {"lines", "<file or folder>"},
    {"memory-limit", "<size>"},
    {"mutants only", "<text>"},
    {"name", "<device>"},
    {"npy", "<folder>"},
    {"numerics", "<preset,field=value>"},
    {"only", "<condition>"},
    {"operator", "<operator>"},
    {"part", "<report.json>"},
    {"product", "<a2|a3>"},
    {"random", "<count>"},
    {"report", "<report.json>"},
    {"require-judged", "<count>"},
    {"seed", "<number>"},
    {"set", "<set>"},
    {"shard", "<i/n>"},
    {"shrink", "<count>"},
    {"store", "<file.h5>"},
    {"template", "<python|cpp|plugin|command>"},
    {"threads", "<count>"},
    {"time-limit", "<time>"},
    {"to", "<folder>"},
    {"trace", "<trace.json>"},
    {"upstream", "<on|off>"},
    {"verify", "<folder>"},
};

/// Maps a flag to its heading in the help of a command. Flags without an entry stand under
/// "Options".
const std::map<std::string_view, const char*> groups = {
    {"baseline", "Result"},
    {"budget", "Time"},
    {"cases", "Cases"},
    {"documents", "Cases"},
    {"fail-fast", "Time"},
    {"force", "Files"},
    {"fresh", "Cases"},
    {"full", "Cases"},
    {"html", "Files"},
    {"implementation", "Implementation"},
    {"in-process", "Implementation"},
    {"isolated", "Implementation"},
    {"json", "Files"},
    {"junit", "Files"},
    {"last-failed", "Cases"},
    {"lines", "Cases"},
    {"memory-limit", "Implementation"},
    {"numerics", "Implementation"},
    {"only", "Cases"},
    {"product", "Cases"},
    {"random", "Cases"},
    {"report", "Files"},
    {"require-judged", "Result"},
    {"resume", "Files"},
    {"seed", "Cases"},
    {"shard", "Cases"},
    {"shrink", "Time"},
    {"store", "Files"},
    {"threads", "Implementation"},
    {"time-limit", "Implementation"},
    {"trace", "Files"},
    {"upstream", "Cases"},
};

/// If a command has no more flags than this, its help has only one heading.
constexpr std::size_t most_in_one_group = 10;

void group_flags(CLI::App& app) {
  const std::vector<CLI::Option*> options = app.get_options();
  for (CLI::Option* option : options)
    if (!option->get_positional() && !option->get_group().empty() &&
        options.size() > most_in_one_group && !option->get_lnames().empty())
      if (const auto group = groups.find(option->get_lnames().front()); group != groups.end())
        option->group(group->second);
  for (CLI::App* sub : app.get_subcommands(nullptr)) group_flags(*sub);
}

void name_kinds(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (option->get_expected_max() == 0 || option->get_type_name() != "TEXT") continue;
    const std::string name =
        option->get_positional() ? option->get_name() : option->get_lnames().front();
    auto kind = kinds.find(app.get_name() + " " + name);
    if (kind == kinds.end()) kind = kinds.find(name);
    if (kind != kinds.end()) option->type_name(kind->second);
  }
  for (CLI::App* sub : app.get_subcommands(nullptr)) name_kinds(*sub);
}

/// Adds examples at the end of the help of a command and of its subcommands. `path` contains the
/// words of the command.
void add_examples(CLI::App& app, const std::string& path) {
  std::string footer;
  for (const std::string& line : examples_of(path))
    footer += (footer.empty() ? "Examples:\n  " : "\n  ") + line;
  if (!footer.empty()) app.footer(footer);
  for (CLI::App* sub : app.get_subcommands(nullptr))
    add_examples(*sub, (path.empty() ? "" : path + " ") + sub->get_name());
}

}  // namespace

void complete_help(CLI::App& app) {
  name_kinds(app);
  group_flags(app);
  add_examples(app, "");
}

}  // namespace assay::cli
