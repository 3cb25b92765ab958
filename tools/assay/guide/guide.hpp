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

/// What the parser knows of a flag or positional.
struct FlagGuide {
  std::vector<std::string> names;  ///< "-q", "--quiet"; a positional's name alone
  std::string summary;
  std::string kind = {};  ///< of its value, "<count>"
  bool takes_value = false, positional = false, required = false;
};

/// What the parser knows of a command.
struct CommandGuide {
  std::vector<std::string> words;  ///< those after the program's name; none: the program
  std::string summary;
  std::vector<FlagGuide> flags;
  std::vector<std::string> subcommands;
};

/// The program and all its commands, each before its subcommands. Former words and hidden commands
/// are taken by the parser, but not offered.
std::vector<CommandGuide> guides(const CLI::App& app);

/// What the command could have taken: its subcommands, then its flags.
std::vector<std::string> accepted(const CLI::App& app);

/// "; did you mean '--seed'?" where the word, without a value, is like one of the others, or like
/// the beginning of one; else empty.
std::string meant(std::string_view word, const std::vector<std::string>& others);

/// What ends a message on a word that is none of `names`: "; did you mean 'run'? Commands are list,
/// run" or "; commands are list, run". `intro`: "commands are".
std::string one_of(std::string_view word, const std::vector<std::string>& names,
                   std::string_view intro);
/// The same with another guess, which is empty or as `meant` writes it.
std::string guessed(const std::string& guess, const std::vector<std::string>& names,
                    std::string_view intro);

/// A page of the handbook on one command.
std::string markdown_page(const std::vector<CommandGuide>& all, const CommandGuide& guide);

/// assay(1), in the language of man.
std::string man_page(const std::vector<CommandGuide>& all, std::string_view version);

/// What completes commands and flags in a shell.
std::string bash_completion(const std::vector<CommandGuide>& all);
std::string zsh_completion(const std::vector<CommandGuide>& all);

}  // namespace assay::cli
