#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "assay/conformance/plan/case_lines.hpp"

namespace assay::cli {

/// The file or folder of cases that a flag names, and its contents.
struct CaseFiles {
  std::string flag, path;
  std::vector<conformance::CaseText> texts;

  bool empty() const { return texts.empty(); }
};

/// Declares a flag for such a file. It is read when the command line is parsed. Errors of parsing:
/// as for `case_texts`.
CLI::Option* add_case_files(CLI::App& app, const std::string& flag, CaseFiles& to,
                            const std::string& help);

/// Returns the texts of cases from the path that a flag names: a file, or all .txt files in a
/// folder and its subfolders, in the order of their names. Returns nothing for an empty path.
/// Errors: UsageError naming the flag and the path, and why it cannot be read, or which line is not
/// a case of any operator.
std::vector<conformance::CaseText> case_texts(std::string_view flag, const std::string& path);

/// Returns the text of the file that a flag names. The file may be a pipe. The size is limited,
/// because reading from a device may never end. Errors: UsageError naming the flag, the path and
/// why it cannot be read.
std::string text_of_file(std::string_view flag, const std::string& path);

}  // namespace assay::cli
