#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace assay::cli {

/// The parser's description of a flag or positional argument.
struct FlagGuide {
  std::vector<std::string> names;  ///< "-q", "--quiet"; a positional's name alone
  std::string summary;
  std::string kind = {};  ///< kind of its value: "<count>"
  bool takes_value = false, positional = false, required = false;
};

/// The parser's description of a command.
struct CommandGuide {
  std::vector<std::string> words;  ///< words of the command; empty: the program itself
  std::string summary;
  std::vector<FlagGuide> flags;
  std::vector<std::string> subcommands;
};

/// The program and all its commands, each command before its subcommands. Omits former names and
/// hidden commands, which the parser still accepts.
std::vector<CommandGuide> guides(const CLI::App& app);

/// The words that the command accepts: its subcommands, then its flags.
std::vector<std::string> accepted(const CLI::App& app);

/// Returns "; did you mean '--seed'?" if the word (without its value) resembles a name or the start
/// of a name; otherwise an empty text.
std::string meant(std::string_view word, const std::vector<std::string>& others);

/// Returns the end of a message about a word that is not in `names`: "; did you mean 'run'?
/// Commands are list, run" or "; commands are list, run". `intro`: "commands are".
std::string one_of(std::string_view word, const std::vector<std::string>& names,
                   std::string_view intro);
/// Returns the same end of a message with a given suggestion, which is empty or has the form that
/// `meant` returns.
std::string guessed(const std::string& guess, const std::vector<std::string>& names,
                    std::string_view intro);

/// Returns a table of the tensors of an operator. Errors: none; the table of an unknown operator is
/// empty.
std::string table_of_tensors(std::string_view operator_name);

/// Returns the page of the handbook about one command.
std::string markdown_page(const std::vector<CommandGuide>& all, const CommandGuide& guide);

/// Returns the manual page assay(1), in the roff format.
std::string man_page(const std::vector<CommandGuide>& all, std::string_view version);

/// Scripts that complete commands and flags in a shell.
std::string bash_completion(const std::vector<CommandGuide>& all);
std::string zsh_completion(const std::vector<CommandGuide>& all);

}  // namespace assay::cli
