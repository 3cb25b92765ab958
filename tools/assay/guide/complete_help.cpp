#include "guide/complete_help.hpp"

#include <CLI/CLI.hpp>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::cli {
namespace {

/// The kinds of values that flags and positional arguments have, by their names without dashes.
const std::map<std::string_view, const char*> kinds = {
    {"as", "<format>"},
    {"baseline", "<file>"},
    {"before", "<report.json>"},
    {"budget", "<time>"},
    {"case", "<id>"},
    {"cases", "<file or folder>"},
    {"command", "<command>"},
    {"device", "<a2|a3>"},
    {"documents", "<lenient|strict>"},
    {"file", "<file.h5>"},
    {"folder", "<folder>"},
    {"format", "<format>"},
    {"fresh", "<seed or off>"},
    {"html", "<page.html>"},
    {"id", "<id or line>"},
    {"implementation", "<name or scheme>"},
    {"json", "<changes.json>"},
    {"junit", "<file.xml>"},
    {"kind", "<list>"},
    {"largest", "<elements>"},
    {"last-failed", "<report.json>"},
    {"lines", "<file or folder>"},
    {"memory-limit", "<size>"},
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

/// The group of a flag in the help of a command; flags without an entry are in the group "Options".
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

/// Commands and their examples. tests/docs/guides_test.py runs all examples in this order in one
/// folder.
constexpr std::pair<std::string_view, std::string_view> examples[] = {
    {"new", "assay new python my_kernel"},
    {"new", "assay new plugin my_plugin"},
    {"list", "assay list operators"},
    {"list", "assay list --coverage"},
    {"explain", "assay explain NSAC-C10"},
    {"explain", "assay explain bound"},
    {"run", "assay run flash_attention_score_grad --heads_q=4 --heads_kv=2 --seq_q=129"},
    {"run", "assay run nsa_compress_grad --seq=65 --dtype=fp16 --implementation=optimized-a2"},
    {"dump", "assay dump nsa_compress_grad --seq=40 --npy=arrays"},
    {"sweep", "assay sweep nsa_compress_grad --budget=2s --report=report.json --html=report.html"},
    {"sweep",
     "assay sweep --budget=2s --only='dtype=bf16 and head_dim>=64' --implementation=optimized-a2"},
    {"report", "assay report report.json"},
    {"report", "assay report report.json report.json"},
    {"shrink",
     "assay shrink flash_attention_score_grad --seq_q=65 "
     "--implementation=mutant-scale_missing_on_dk"},
    {"export", "assay export cases.h5 --implementation=optimized-a2 nsa_compress_grad --seq=40"},
    {"export",
     "assay export small.h5 --only='dtype=fp16 and track=bound' --random=0 --largest=2000"},
    {"check", "assay check cases.h5"},
    {"check", "assay check cases.h5 --report=checked.json"},
    {"pack", "assay pack --list"},
    {"device", "assay device a2"},
    {"device", "assay device plan flash_attention_score_grad --seq_q=4096 --seq_kv=4096"},
    {"mutants", "assay mutants --list"},
    {"help", "assay help sweep"},
};

/// A short help text has only one group.
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
    if (const auto kind = kinds.find(name); kind != kinds.end()) option->type_name(kind->second);
  }
  for (CLI::App* sub : app.get_subcommands(nullptr)) name_kinds(*sub);
}

}  // namespace

void complete_help(CLI::App& app) {
  name_kinds(app);
  group_flags(app);
  for (CLI::App* command : app.get_subcommands(nullptr)) {
    std::string footer;
    for (const auto& [name, line] : examples)
      if (name == command->get_name())
        footer += (footer.empty() ? "Examples:\n  " : "\n  ") + std::string(line);
    if (!footer.empty()) command->footer(footer);
  }
}

}  // namespace assay::cli
