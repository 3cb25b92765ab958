#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "assay/conformance/plan/case_lines.hpp"

namespace assay::cli {

/// The file or folder of replay lines that a flag names, and its contents.
struct CaseFiles {
  std::string flag, path;
  std::vector<conformance::CaseText> texts;

  bool empty() const { return texts.empty(); }
};

/// Declares a flag that names a file or folder of replay lines. The command line parser reads the
/// file immediately. Errors: the errors of `case_texts`.
CLI::Option* add_case_files(CLI::App& app, const std::string& flag, CaseFiles& to,
                            const std::string& help);

/// Reads the replay lines from the file or folder that a flag names. From a folder, reads all .txt
/// files in it and in its subfolders, sorted by name. Returns nothing if the path is empty. Errors:
/// UsageError that names the flag and the path. It says why the path cannot be read, or which line
/// is not a case of any operator.
std::vector<conformance::CaseText> case_texts(std::string_view flag, const std::string& path);

/// Returns the text of the file that a flag names. The file may be a pipe. The size is limited,
/// because a device may deliver data forever. Errors: UsageError that names the flag, the path and
/// the reason.
std::string text_of_file(std::string_view flag, const std::string& path);

}  // namespace assay::cli
