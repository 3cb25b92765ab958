#include "command/line.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>
#include <stdexcept>

namespace assay::adapters {
namespace {

constexpr std::string_view case_path = "{}";
constexpr const char* numerics_variable = "ASSAY_NUMERICS";

bool is_blank(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

/// Reads the word that begins at index `at`, and moves `at` to the end of the word.
std::string take_word(const std::string& text, std::size_t& at) {
  std::string word;
  char quote = 0;
  for (; at < text.size() && (quote != 0 || !is_blank(text[at])); ++at) {
    const char c = text[at];
    if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    } else if (c == '\\' && quote != '\'' && at + 1 < text.size()) {
      word += text[++at];
    } else {
      word += c;
    }
  }
  if (quote != 0)
    throw std::invalid_argument("'" + text + "': the quote " + std::string(1, quote) +
                                " is not closed");
  return word;
}

/// Splits the word "NAME=VALUE", which sets an environment variable for the program.
std::optional<std::pair<std::string, std::string>> assignment(const std::string& word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string::npos || equals == 0) return std::nullopt;
  const std::string name = word.substr(0, equals);
  const bool is_name =
      std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
  if (!is_name || std::isdigit(static_cast<unsigned char>(name.front())) != 0) return std::nullopt;
  return std::pair{name, word.substr(equals + 1)};
}

bool is_program(const std::filesystem::path& file) {
  return std::filesystem::is_regular_file(file) && ::access(file.c_str(), X_OK) == 0;
}

/// Returns the value of an environment variable if the command line sets it.
std::optional<std::string> setting(const CommandLine& command, std::string_view variable) {
  for (const auto& [name, value] : command.environment)
    if (name == variable) return value;
  return std::nullopt;
}

/// Returns the folders in which programs are searched: the value of PATH in the command line or, if
/// it does not set PATH, the value of PATH in this process.
std::string search_path(const CommandLine& command) {
  if (const auto path = setting(command, "PATH")) return *path;
  const char* path = std::getenv("PATH");
  return path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path;
}

}  // namespace

std::vector<std::string> shell_words(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    if (is_blank(text[at]))
      ++at;
    else
      words.push_back(take_word(text, at));
  }
  return words;
}

CommandLine parse_command_line(const std::string& text) {
  CommandLine command{.text = text, .environment = {}, .words = shell_words(text)};
  while (!command.words.empty()) {
    const auto set = assignment(command.words.front());
    if (!set) break;
    command.environment.push_back(*set);
    command.words.erase(command.words.begin());
  }
  if (command.words.empty())
    throw std::invalid_argument(
        "'command:" + text +
        "' names no program; accepted: command:[NAME=VALUE ...] PROGRAM [ARG ...]");
  command.one_shot = std::ranges::any_of(command.words, [](const std::string& word) {
    return word.find(case_path) != std::string::npos;
  });
  return command;
}

std::string declared_numerics(const CommandLine& command) {
  return setting(command, numerics_variable).value_or("");
}

void require_program(const CommandLine& command) {
  const std::string& program = command.words.front();
  const std::string wanted = "'command:" + command.text + "': '" + program + "' is not a program ";
  if (program.find('/') != std::string::npos) {
    if (is_program(program)) return;
    throw std::invalid_argument(wanted + "that can be executed");
  }
  std::istringstream folders(search_path(command));
  for (std::string folder; std::getline(folders, folder, ':');)
    if (is_program(std::filesystem::path(folder.empty() ? "." : folder) / program)) return;
  throw std::invalid_argument(wanted +
                              "in any folder of PATH; for a program elsewhere write its path");
}

std::vector<std::string> words_for(const CommandLine& command, const std::string& path) {
  std::vector<std::string> words = command.words;
  for (std::string& word : words)
    for (std::size_t at = word.find(case_path); at != std::string::npos;
         at = word.find(case_path, at + path.size()))
      word.replace(at, case_path.size(), path);
  return words;
}

}  // namespace assay::adapters
