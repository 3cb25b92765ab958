#include "flags/case_texts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "assay/conformance/operators.hpp"
#include "flags/choose.hpp"
#include "flags/input_file.hpp"

namespace assay::cli {
namespace {

/// Returns the .txt files below a folder, sorted by name. Their cases have the same order.
std::vector<std::string> text_files(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) return {path};
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path))
    if (entry.is_regular_file() && entry.path().extension() == ".txt")
      files.push_back(entry.path().string());
  std::ranges::sort(files);
  return files;
}

conformance::CaseText read_text(std::string_view flag, const std::string& path) {
  return {.name = path, .text = text_of_file(flag, path)};
}

/// Describes the error in a line that does not begin with the name of an operator.
std::string refusal_of_words(const std::vector<std::string>& words) {
  const std::string& first = words.front();
  if (first.starts_with('"') || first.starts_with('\''))
    return "the line is in quotation marks: remove the marks";
  return unknown_operator(first).what();
}

/// Returns the number of replay lines. Errors: UsageError if a line is not a valid case. A line may
/// be a case of an operator that the sweep does not run.
std::size_t checked_lines(const conformance::CaseText& text) try {
  const auto lines = conformance::case_lines(text);
  for (const conformance::CaseLine& line : lines) {
    const std::vector<std::string> operators = operator_names();
    if (std::ranges::find(operators, line.words.front()) == operators.end())
      throw UsageError(line.place + ": " + refusal_of_words(line.words));
    with_operators(line.words.front(), [&]<class Op> { conformance::case_of<Op>(line); });
  }
  return lines.size();
} catch (const std::invalid_argument& error) {
  throw UsageError(error.what());
}

}  // namespace

std::string text_of_file(std::string_view flag, const std::string& path) {
  constexpr std::size_t most = 64 << 20;
  InputFile input = read_input(path, most);
  if (!input.fault.empty())
    throw UsageError(fmt::format("{} is '{}', which {}", flag, path, input.fault));
  return std::move(input.text);
}

std::vector<conformance::CaseText> case_texts(std::string_view flag, const std::string& path) try {
  std::vector<conformance::CaseText> texts;
  if (path.empty()) return texts;
  std::size_t lines = 0;
  for (const std::string& file : text_files(path)) {
    texts.push_back(read_text(flag, file));
    lines += checked_lines(texts.back());
  }
  if (texts.empty())
    throw UsageError(fmt::format(
        "{} is '{}', a folder without a .txt file; expected a file of replay lines, or a folder of "
        "such files whose names end with .txt",
        flag, path));
  if (lines == 0)
    throw UsageError(fmt::format("{} is '{}', which contains no replay line", flag, path));
  return texts;
} catch (const std::filesystem::filesystem_error& error) {
  throw UsageError(fmt::format("{} is '{}': {}", flag, path, error.code().message()));
}

CLI::Option* add_case_files(CLI::App& app, const std::string& flag, CaseFiles& to,
                            const std::string& help) {
  const auto read = [flag](const std::string& path) {
    return CaseFiles{.flag = flag, .path = path, .texts = case_texts(flag, path)};
  };
  return add_value(app, flag, to, read, help);
}

}  // namespace assay::cli
