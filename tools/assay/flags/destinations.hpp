#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "assay/cli/command.hpp"
#include "assay/conformance/report/listeners.hpp"
#include "assay/fixtures/destination.hpp"

namespace assay::cli {

/// The kind of a text file that a command writes. An existing file is replaced only if it contains
/// a text of the same kind.
enum class TextKind : std::uint8_t { report, page, junit, kills, trace, changes };

/// A file that a command writes or reads, and the flag or argument that names it. An empty path
/// means that the file is not requested.
struct Destination {
  std::string_view flag;
  std::string path;
  TextKind kind = TextKind::report;  ///< used only if the file is a text
};

/// Which existing files may be replaced: only results of the same kind, or any file.
enum class Replace : std::uint8_t { own_results, anything };

/// The flag --force.
void declare_force(CLI::App& app, Replace& replace);

/// Checks the destinations of a command before it computes anything, and does not change them.
/// Errors: UsageError naming the flag, its value and the reason: a path that is a folder, a path
/// that is not writable, a missing folder, a file with other contents, or two flags that name the
/// same file. `texts`: "-" means standard output, which only one of them may use. `others`: case
/// files, or inputs.
void require_writable(const std::vector<Destination>& texts,
                      const std::vector<Destination>& others = {},
                      Replace replace = Replace::own_results);

/// Checks the place of a folder. Errors: UsageError if neither the folder nor its parent folder
/// exists.
void require_place_of_folder(const Destination& folder);

/// Checks a case file. Errors: UsageError if writing it would overwrite a file of another kind.
void require_case_file(const Destination& file, fixtures::CaseFileKind kind);

bool is_standard_output(std::string_view path);

/// Returns the function that writes a text to the path; an empty function for an empty path.
conformance::Sink sink(const std::string& path, const Context& context);

/// Returns the context for text that a command prints in addition to its results. If a result is
/// written to standard output, this text goes to standard error.
Context context_for(const std::vector<Destination>& texts, const Context& context);

}  // namespace assay::cli
