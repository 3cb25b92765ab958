#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <new>
#include <string_view>

#include "assay/cli/main.hpp"
#include "assay/conformance/report/printable.hpp"
#include "assay/conformance/report/results.hpp"
#include "assay/fixtures/file.hpp"
#include "assay/fixtures/foreign.hpp"
#include "build_facts.hpp"
#include "commands/commands.hpp"
#include "flags/choose.hpp"
#include "flags/values.hpp"
#include "signals.hpp"

namespace assay::cli {
namespace {

std::string full_name(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name()
                                     : full_name(*app.get_parent()) + " " + app.get_name();
}

/// Everything that the deepest command could have taken.
std::string choices(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands(nullptr))
    if (!sub->get_group().empty()) names.push_back(sub->get_name());
  // Former words are taken, but not offered.
  for (const CLI::Option* option : app.get_options())
    if (!option->get_group().empty()) names.push_back(option->get_name());
  return joined(names);
}

/// Words that no flag, positional or subcommand took, at any level.
void refuse_extras(const CLI::App& app) {
  const std::vector<std::string> extras = app.remaining();
  if (!extras.empty()) {
    const auto flag = std::find_if(extras.begin(), extras.end(),
                                   [](const std::string& word) { return word.starts_with("-"); });
    const std::string& culprit = flag == extras.end() ? extras.front() : *flag;
    throw UsageError(std::string(flag == extras.end() ? "unexpected word" : "unknown flag") + " '" +
                     culprit + "'; '" + full_name(app) + "' takes " + choices(app));
  }
  for (const CLI::App* sub : app.get_subcommands()) refuse_extras(*sub);
}

void allow_extras(CLI::App& app) {
  app.allow_extras();
  for (CLI::App* sub : app.get_subcommands([](CLI::App*) { return true; })) allow_extras(*sub);
}

/// The parser would take the next word for the value, and an empty one for none: a variable of a
/// script that was never set.
void refuse_empty_values(const std::vector<std::string>& words) {
  for (std::size_t k = 0; k < words.size(); ++k) {
    if (words[k].starts_with("--") && words[k].find('=') == words[k].size() - 1)
      throw UsageError("'" + words[k] + "' has no value; leave it out or give one");
    if (words[k].empty())
      throw UsageError((k == 0 ? "the first word" : "the word behind '" + words[k - 1] + "'") +
                       " is empty; leave it out or give one");
  }
}

/// Parses the words and runs the command that they name.
ExitCode dispatch(std::vector<std::string> words, const Context& context) {
  CLI::App app("Says whether an implementation of an attention gradient conforms to its documents.",
               "assay");
  app.set_version_flag("--version", version_line(), "version, compiler, schemas");
  std::map<std::string, Action> actions;
  const auto declare = [&](const Command& command) {
    actions[command.name] =
        command.declare(*app.add_subcommand(command.name, command.summary), context.registry);
  };
  for (const Command& command : built_in_commands()) declare(command);
  for (const Command& command : context.registry.commands()) declare(command);
  allow_extras(app);
  if (words.empty()) {
    context.err << app.help();
    return ExitCode::usage;
  }
  refuse_empty_values(words);
  try {
    std::reverse(words.begin(), words.end());
    app.parse(words);
  } catch (const CLI::Success& answered) {
    app.exit(answered, context.out, context.err);
    return ExitCode::conformant;
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what());
  }
  refuse_extras(app);
  const auto commands = app.get_subcommands();
  if (commands.empty()) throw UsageError("no command; 'assay' takes " + choices(app));
  return actions.at(commands.front()->get_name())(context);
}

/// Whether a command is at work whose exit code is yet to be found.
std::atomic<bool> is_at_work = false;

/// An implementation that runs here and ends the process must not be taken for a verdict.
extern "C" void refuse_exit() {
  if (!is_at_work) return;
  constexpr std::string_view message =
      "\nassay: the implementation ended this process from within: there is no report. Without "
      "--in-process that is the verdict of one case\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, message.data(), message.size());
  _exit(static_cast<int>(ExitCode::not_conclusive));
}

/// Memory for the way out: the destructor of a JSON value allocates, so that a process without any
/// would end in it.
std::atomic<void*> reserve = nullptr;

void give_up_reserve() {
  std::free(reserve.exchange(nullptr));
  throw std::bad_alloc();
}

/// Whether there is so much.
bool keep_reserve() {
  constexpr std::size_t bytes = std::size_t{8} << 20;
  reserve = std::malloc(bytes);
  std::set_new_handler(give_up_reserve);
  return reserve != nullptr;
}

ExitCode refuse_for_memory(std::ostream& err) {
  err << "assay: there is not enough memory\n";
  return ExitCode::not_conclusive;
}

/// How the user calls this program, without its folder.
std::string program_name(int argc, char** argv) {
  const std::string name = argc > 0 ? std::filesystem::path(argv[0]).filename().string() : "";
  return name.empty() ? "assay" : name;
}

/// A kernel may have chosen its text.
std::string told(const std::exception& error) {
  return conformance::excerpt(error.what(), 1 << 16);
}

}  // namespace

ExitCode execute(std::vector<std::string> words, const Context& context) {
  try {
    return dispatch(std::move(words), context);
  } catch (const UsageError& error) {
    context.err << "assay: " << told(error) << '\n';
    return ExitCode::usage;
  } catch (const std::bad_alloc&) {
    return refuse_for_memory(context.err);
  } catch (const std::exception& error) {
    context.err << "assay: " << told(error) << '\n';
    return ExitCode::not_conclusive;
  }
}

std::string version_line() {
  const BuildFacts facts = build_facts();
  return fmt::format("assay {}, {}, cases in schema {}, reports in schema {}", facts.version,
                     facts.compiler, fixtures::schema, conformance::report_schema);
}

int main(int argc, char** argv, const Registry& registry) {
  fixtures::restart_as_reader({worker_command_name, reading_word});
  const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  std::string line;
  for (int k = 0; k < argc; ++k) line += (k == 0 ? "" : " ") + std::string(argv[k]);
  const Context context{.registry = registry,
                        .out = std::cout,
                        .err = std::cerr,
                        .stop = stop_requested(),
                        .terminal = isatty(STDERR_FILENO) == 1,
                        .command_line = line,
                        .program = program_name(argc, argv)};
  if (!keep_reserve()) return static_cast<int>(refuse_for_memory(std::cerr));
  std::atexit(refuse_exit);
  std::at_quick_exit(refuse_exit);
  is_at_work = words.empty() ||
               words.front() != worker_command_name;  // a worker's exit is told by its judge
  const ExitCode code = execute(words, context);
  is_at_work = false;
  std::cout.flush();
  if (!std::cout) {
    std::cerr << "assay: cannot write to standard output\n";
    return static_cast<int>(ExitCode::not_conclusive);
  }
  return static_cast<int>(code);
}

}  // namespace assay::cli
