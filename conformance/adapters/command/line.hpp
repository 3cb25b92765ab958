#pragma once

#include <string>
#include <utility>
#include <vector>

namespace assay::adapters {

/// A command line, parsed from the text after "command:".
struct CommandLine {
  std::string text;                                              ///< as typed
  std::vector<std::pair<std::string, std::string>> environment;  ///< NAME=VALUE before the program
  std::vector<std::string> words;  ///< program and arguments, at least the program
  bool one_shot = false;           ///< true if an argument contains {}
};

/// Splits a text into words. The quotes are those of a shell ('...', "...", \); nothing else is
/// expanded. Errors: std::invalid_argument for an unclosed quote.
std::vector<std::string> shell_words(const std::string& text);

/// Parses the text after "command:". Errors: std::invalid_argument if the text does not name a
/// program.
CommandLine parse_command_line(const std::string& text);

/// Returns the value that the command line gives to the variable ASSAY_NUMERICS; empty if the
/// command line does not set it.
std::string declared_numerics(const CommandLine& command);

/// Checks the program of the command line. Errors: std::invalid_argument if it is not an executable
/// file.
void require_program(const CommandLine& command);

/// Returns the words with every {} replaced by `path`.
std::vector<std::string> words_for(const CommandLine& command, const std::string& path);

}  // namespace assay::adapters
