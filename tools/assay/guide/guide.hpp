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

/// Help data of a flag or positional argument, taken from the parser.
struct FlagGuide {
  std::vector<std::string> names;  ///< "-q", "--quiet"; a positional's name alone
  std::string summary;
  std::string kind = {};  ///< kind of its value: "<count>"
  bool takes_value = false, positional = false, required = false;
};

/// Help data of a command, taken from the parser.
struct CommandGuide {
  std::vector<std::string> words;  ///< words of the command; empty: the program itself
  std::string summary;
  std::vector<FlagGuide> flags;
  std::vector<std::string> subcommands;
};

/// Returns the help data of the program and of all its commands; each command precedes its
/// subcommands. Omits hidden commands and former names, which the parser still accepts.
std::vector<CommandGuide> guides(const CLI::App& app);

/// Returns the words that a command accepts: its subcommands, then its flags.
std::vector<std::string> accepted(const CLI::App& app);

/// Returns "; did you mean '--seed'?" if the word (without its value) resembles one of the names,
/// or the start of one. Otherwise returns an empty string.
std::string meant(std::string_view word, const std::vector<std::string>& others);

/// Returns the end of an error message about a word that is not in `names`. With the intro
/// "commands are", this is for example "; commands are list, run", or with a suggestion "; did you
/// mean 'run'? Commands are list, run".
std::string one_of(std::string_view word, const std::vector<std::string>& names,
                   std::string_view intro);
/// Returns the end of an error message in the form of `one_of`, but with the suggestion `guess`.
/// `guess` is empty or a result of `meant`.
std::string guessed(const std::string& guess, const std::vector<std::string>& names,
                    std::string_view intro);

/// Returns a table of the tensors of an operator. Returns an empty string for an unknown operator.
std::string table_of_tensors(std::string_view operator_name);

/// Returns the handbook page of one command, in Markdown.
std::string markdown_page(const std::vector<CommandGuide>& all, const CommandGuide& guide);

/// Returns the manual page assay(1) in the roff format.
std::string man_page(const std::vector<CommandGuide>& all, std::string_view version);

/// Return scripts that complete commands and flags in a shell.
std::string bash_completion(const std::vector<CommandGuide>& all);
std::string zsh_completion(const std::vector<CommandGuide>& all);

}  // namespace assay::cli
