#pragma once

#include <string>
#include <utility>
#include <vector>

namespace assay::adapters {

/// The parsed text after "command:".
struct CommandLine {
  std::string text;                                              ///< as typed
  std::vector<std::pair<std::string, std::string>> environment;  ///< NAME=VALUE before the program
  std::vector<std::string> words;  ///< program and arguments, at least the program
  bool one_shot = false;           ///< true if an argument contains {}
};

/// Splits a text into words with the quotes of a shell ('...', "...", \); nothing else is expanded.
/// Errors: std::invalid_argument for a quote that is not closed.
std::vector<std::string> shell_words(const std::string& text);

/// Errors: std::invalid_argument for a text without a program.
CommandLine parse_command_line(const std::string& text);

/// Returns the value that the command gives to ASSAY_NUMERICS; empty if it sets no value.
std::string declared_numerics(const CommandLine& command);

/// Returns the path of the program. Errors: std::invalid_argument if it is not an executable file.
void require_program(const CommandLine& command);

/// Returns the words with every {} replaced by `path`.
std::vector<std::string> words_for(const CommandLine& command, const std::string& path);

}  // namespace assay::adapters
