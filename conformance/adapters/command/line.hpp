#pragma once

#include <string>
#include <utility>
#include <vector>

namespace assay::adapters {

/// What stands behind "command:", taken apart.
struct CommandLine {
  std::string text;  ///< as typed
  std::vector<std::pair<std::string, std::string>>
      environment;                 ///< NAME=VALUE in front of the program
  std::vector<std::string> words;  ///< program and arguments, at least the program
  bool one_shot = false;           ///< an argument holds {}
};

/// The words of a text, quoted as for a shell ('...', "...", \), without its other meanings.
/// Errors: std::invalid_argument for a quote that is not closed.
std::vector<std::string> shell_words(const std::string& text);

/// Errors: std::invalid_argument for a text without a program.
CommandLine parse_command_line(const std::string& text);

/// What ASSAY_NUMERICS in front of the program says; empty where it is not there.
std::string declared_numerics(const CommandLine& command);

/// Errors: std::invalid_argument if the program is no file that can be executed.
void require_program(const CommandLine& command);

/// The words with every {} replaced by `path`.
std::vector<std::string> words_for(const CommandLine& command, const std::string& path);

}  // namespace assay::adapters
