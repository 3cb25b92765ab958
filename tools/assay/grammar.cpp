#include "grammar.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "assay/cli/main.hpp"
#include "assay/conformance/report/results.hpp"
#include "build_facts.hpp"
#include "commands/commands.hpp"
#include "flags/choose.hpp"
#include "flags/documented_names.hpp"
#include "flags/values.hpp"
#include "guide/complete_help.hpp"
#include "guide/guide.hpp"

namespace assay::cli {
namespace {

std::string full_name(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name()
                                     : full_name(*app.get_parent()) + " " + app.get_name();
}

constexpr std::ptrdiff_t most_listed = 10;  // flags in an error message

/// Searches the other commands for a flag that this command does not accept. Returns, for example,
/// "; 'assay sweep' accepts it"; an empty string if no command has the flag.
std::string other_command(const std::string& word, const CLI::App& app) {
  const CLI::App* root = &app;
  while (root->get_parent() != nullptr) root = root->get_parent();
  for (const CLI::App* command : root->get_subcommands(nullptr))
    if (!command->get_group().empty() &&
        command->get_option_no_throw(word.substr(0, word.find('='))) != nullptr)
      return "; '" + full_name(*command) + "' accepts it";
  return {};
}

/// Returns the help command that lists the flags of `app`, for example "assay help run
/// nsa_compress".
std::string help_command(const CLI::App& app) {
  const std::string name = full_name(app);
  const std::size_t blank = name.find(' ');
  return blank == std::string::npos ? name + " help"
                                    : name.substr(0, blank) + " help" + name.substr(blank);
}

/// Returns a hint for the error message about an unknown word: first a similar word, then all
/// accepted words. If the command has many flags, the hint names the help command instead of
/// listing them.
std::string instead_of(const std::string& word, const CLI::App& app) {
  const std::vector<std::string> all = accepted(app);
  if (const std::size_t blank = word.find(' ');
      blank != word.npos && std::ranges::find(all, word.substr(0, blank)) != all.end())
    return ", which is one word because it is in quotation marks: remove the quotation marks";
  std::string hint = documented_hint(word);
  if (const std::string flag = "--" + word.substr(0, word.find('='));
      hint.empty() && std::ranges::find(all, flag) != all.end())
    hint = "; did you mean '" + flag + "'?";
  if (hint.empty()) hint = meant(word, all);
  const auto is_flag = [](const std::string& name) { return name.starts_with("-"); };
  if (is_flag(word) && hint.empty()) hint = other_command(word, app);
  if (is_flag(word) && std::ranges::count_if(all, is_flag) > most_listed)
    return hint + (hint.ends_with('?') ? " '" : "; '") + help_command(app) + "' lists the flags";
  return guessed(hint, all, "'" + full_name(app) + "' takes");
}

/// Reports an error for words that the command line parser did not match to a flag, a positional
/// argument or a subcommand.
void refuse_extras(const CLI::App& app) {
  const std::vector<std::string> extras = app.remaining();
  if (!extras.empty()) {
    const auto is_flag = [](const std::string& word) { return word.starts_with("-"); };
    // If the subcommand is misspelt, report that word. The flags after it may be valid flags of the
    // subcommand that the user meant.
    const bool lacks_subcommand =
        !is_flag(extras.front()) && app.get_subcommands().empty() &&
        !app.get_subcommands([](const CLI::App*) { return true; }).empty();
    const auto flag =
        lacks_subcommand ? extras.end() : std::find_if(extras.begin(), extras.end(), is_flag);
    const std::string& culprit = flag == extras.end() ? extras.front() : *flag;
    throw UsageError(std::string(flag == extras.end() ? "unexpected word" : "unknown flag") + " '" +
                     culprit + "'" + instead_of(culprit, app));
  }
  for (const CLI::App* sub : app.get_subcommands()) refuse_extras(*sub);
}

void allow_extras(CLI::App& app) {
  app.allow_extras();
  for (CLI::App* sub : app.get_subcommands([](CLI::App*) { return true; })) allow_extras(*sub);
}

/// Reports an error for empty words. A script passes an empty word if one of its variables was
/// never set. The parser would then use the next word as the value, or ignore the flag.
void refuse_empty_values(const std::vector<std::string>& words) {
  for (std::size_t k = 0; k < words.size(); ++k) {
    if (words[k].starts_with("--") && words[k].find('=') == words[k].size() - 1)
      throw UsageError("'" + words[k] + "' has no value; omit it, or give it a value");
    if (words[k].empty())
      throw UsageError((k == 0 ? "the first word" : "the word after '" + words[k - 1] + "'") +
                       " is empty; omit it, or give it a value");
  }
}

/// Reports an error if a flag without a value gets one, as in "--quiet=5". The parser would ignore
/// the value.
void refuse_values_of_flags(const std::vector<std::string>& words, const CLI::App& root) {
  const CLI::App* app = &root;
  for (const std::string& word : words) {
    const std::string name = word.substr(0, word.find('='));
    for (const CLI::Option* option : app->get_options())
      if (name.size() < word.size() && option->check_name(name) && option->get_expected_max() == 0)
        throw UsageError("'" + word + "': the flag " + name + " accepts no value; use only " +
                         name);
    for (const CLI::App* sub : app->get_subcommands(nullptr))
      if (sub->check_name(word)) app = sub;
  }
}

/// Returns a flag that accepts one value but was given several times; null if there is none.
const CLI::Option* repeated(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options())
    if (option->get_expected_max() == 1 && option->count() > 1) return option;
  for (const CLI::App* sub : app.get_subcommands())
    if (const CLI::Option* option = repeated(*sub)) return option;
  return nullptr;
}

/// Describes the first required flag or subcommand that is missing. Returns an empty string if
/// nothing is missing.
std::string lack(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options())
    if (option->get_required() && option->count() == 0)
      return "'" + full_name(app) + "' needs " + option->get_name() + ": " +
             option->get_description();
  for (const CLI::App* sub : app.get_subcommands())
    if (std::string text = lack(*sub); !text.empty()) return text;
  return {};
}

/// Searches this command and its subcommands for an option with this name. Returns null if none has
/// it.
const CLI::Option* option_named(const CLI::App& app, const std::string& name) {
  for (const CLI::App* sub : app.get_subcommands())
    if (const CLI::Option* option = option_named(*sub, name)) return option;
  return app.get_option_no_throw(name);
}

/// Returns the error message for the user. Some messages of the parser contain only counts or
/// internal names; this function replaces them.
std::string complaint(const CLI::ParseError& error, const CLI::App& app) {
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr)
    if (const std::string text = lack(app); !text.empty()) return text;
  const CLI::Option* const option = repeated(app);
  if (option == nullptr) {
    // The error message of the parser begins with the name of the flag.
    const std::string message = error.what(), name = message.substr(0, message.find(':'));
    const bool has_no_value = dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr;
    const CLI::Option* const flag = has_no_value ? option_named(app, name) : nullptr;
    return flag != nullptr ? name + " needs a value: " + flag->get_type_name() : message;
  }
  return option->get_name() + " is given " +
         (option->count() == 2 ? "twice" : std::to_string(option->count()) + " times") +
         "; it accepts only one value";
}

/// The flags --quiet and --verbose, which every command accepts.
struct Loudness {
  bool quiet = false, verbose = false;

  void declare(CLI::App& app) {
    app.add_flag("-q,--quiet", quiet, "print no progress: only errors go to standard error");
    app.add_flag("-v,--verbose", verbose,
                 "print each case, and tables of requirements, regimes and failures");
    for (CLI::App* sub : app.get_subcommands([](CLI::App*) { return true; })) declare(*sub);
  }
};

/// The arguments of `assay help`: the command to describe, and the output format.
struct Asked {
  std::vector<std::string> words;
  std::string as = "text";

  void declare(CLI::App& app) {
    app.add_option(
        "command", words,
        "command, such as run or 'device plan'; without it, the help describes the whole program");
    app.add_option("--as", as, "format: text, or for programs man, bash, zsh, markdown, commands");
  }
};

const CLI::App& app_of(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* at = &app;
  for (const std::string& word : words) {
    const auto subcommands =
        at->get_subcommands([&](const CLI::App* sub) { return sub->get_name() == word; });
    if (subcommands.empty()) throw UsageError("no command '" + word + "'" + instead_of(word, *at));
    at = subcommands.front();
  }
  return *at;
}

/// Lists all commands that have a help page, one command per line.
std::string command_lines(const std::vector<CommandGuide>& all) {
  std::string lines;
  for (const CommandGuide& guide : all) {
    for (std::size_t k = 0; k < guide.words.size(); ++k)
      lines += (k == 0 ? "" : " ") + guide.words[k];
    if (!guide.words.empty()) lines += '\n';
  }
  return lines;
}

std::string help_text(const CLI::App& app, const Asked& asked) {
  const CLI::App& target = app_of(app, asked.words);
  const std::vector<CommandGuide> all = guides(app);
  if (asked.as == "text") {
    const std::string name = full_name(target);
    return target.get_formatter()->make_help(&target, name, CLI::AppFormatMode::Normal);
  }
  if (asked.as == "markdown")
    return markdown_page(all, *std::ranges::find(all, asked.words, &CommandGuide::words));
  if (asked.as == "man") return man_page(all, build_facts().version);
  if (asked.as == "bash") return bash_completion(all);
  if (asked.as == "zsh") return zsh_completion(all);
  if (asked.as == "commands") return command_lines(all);
  throw UsageError("--as is '" + asked.as +
                   "'; it must be text, man, bash, zsh, markdown or commands");
}

/// Returns a stream that discards all output.
std::ostream& silence() {
  static std::ostream none(nullptr);
  return none;
}

/// Returns a copy of the context with the amount of output that --quiet or --verbose selects.
Context heard(const Context& context, const Loudness& loudness) {
  if (loudness.quiet && loudness.verbose)
    throw UsageError("--quiet and --verbose exclude each other");
  return {.registry = context.registry,
          .out = context.out,
          .err = loudness.quiet ? silence() : context.err,
          .stop = context.stop,
          .terminal = context.terminal,
          .command_line = context.command_line,
          .program = context.program,
          .typed = context.typed,
          .verbose = loudness.verbose,
          .entropy = context.entropy};
}

/// The commands and flags of this program.
class Grammar {
 public:
  /// Declares all commands. If the first word is a command, `only_used` declares its flags only:
  /// the flags of all commands take longer than a small case.
  Grammar(const std::vector<std::string>& words, const Context& context, bool only_used) {
    app_.set_version_flag("--version", version_line(), "version, compiler, schemas");
    std::vector<Command> commands = built_in_commands();
    std::ranges::copy(context.registry.commands(), std::back_inserter(commands));
    only_used = only_used && std::ranges::any_of(commands, [&](const Command& command) {
                  return command.name == words.front();
                });
    for (const Command& command : commands) {
      CLI::App& sub = *app_.add_subcommand(command.name, command.summary);
      if (only_used && command.name != words.front()) continue;
      actions_[command.name] = command.declare(sub, context.registry);
    }
    app_.require_subcommand(0, 1);  // only the first word is a command, even after `help`
    asked_.declare(*app_.add_subcommand("help", "print the arguments and flags of a command"));
    loudness_.declare(app_);
    complete_help(app_);
    allow_extras(app_);
  }

  const CLI::App& app() const { return app_; }

  /// Reads the words. Returns what is to be done. Errors: UsageError.
  Action read(std::vector<std::string> words) {
    refuse_empty_values(words);
    refuse_values_of_flags(words, app_);
    try {
      std::reverse(words.begin(), words.end());
      app_.parse(words);
    } catch (const CLI::Success& answered) {
      std::ostringstream answer, error;
      app_.exit(answered, answer, error);
      return [text = answer.str()](const Context& context) {
        context.out << text;
        return ExitCode::conformant;
      };
    } catch (const CLI::ParseError& error) {
      throw UsageError(complaint(error, app_));
    }
    refuse_extras(app_);
    const auto commands = app_.get_subcommands();
    if (commands.empty())
      throw UsageError("no command is given; 'assay' accepts " + joined(accepted(app_)));
    if (commands.front()->get_name() == "help")
      return [this](const Context& context) {
        context.out << help_text(app_, asked_);
        return ExitCode::conformant;
      };
    return [this, action = actions_.at(commands.front()->get_name())](const Context& context) {
      return action(heard(context, loudness_));
    };
  }

 private:
  CLI::App app_{
      "Checks whether an implementation of an attention operator conforms to its documents.",
      "assay"};
  std::map<std::string, Action> actions_;
  Asked asked_;
  Loudness loudness_;
};

}  // namespace

ExitCode dispatch(const std::vector<std::string>& words, const Context& context) {
  if (words.empty()) {
    context.err << Grammar(words, context, false).app().help();
    return ExitCode::usage;
  }
  Grammar used(words, context, true);
  std::optional<Grammar> all;
  const auto read = [&]() -> Action {
    try {
      return used.read(words);
    } catch (const UsageError&) {
      // The message may name a flag of another command.
      return all.emplace(words, context, false).read(words);
    }
  };
  return read()(context);
}

}  // namespace assay::cli
