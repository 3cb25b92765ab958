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
/// means that the user did not ask for the file.
struct Destination {
  std::string_view flag;
  std::string path;
  TextKind kind = TextKind::report;  ///< used only if the file is a text
};

/// Says which existing files may be replaced: only results of the same kind, or any file.
enum class Replace : std::uint8_t { own_results, anything };

/// The flag --force.
void declare_force(CLI::App& app, Replace& replace);

/// Checks the destinations of a command before it computes anything. This function does not change
/// the files. Errors: UsageError that names the flag, its value and the reason: the path is a
/// folder, it is not writable, its folder is missing, the file has other contents, or two flags
/// name the same file. `texts`: text files to write; one of them may be "-", which means standard
/// output. `others`: case files, or inputs.
void require_writable(const std::vector<Destination>& texts,
                      const std::vector<Destination>& others = {},
                      Replace replace = Replace::own_results);

/// Checks the path of an output folder. Errors: UsageError if neither the folder nor its parent
/// folder exists.
void require_place_of_folder(const Destination& folder);

/// Checks a case file that will be written. Errors: UsageError if an existing file of another kind
/// would be overwritten.
void require_case_file(const Destination& file, fixtures::CaseFileKind kind);

bool is_standard_output(std::string_view path);

/// Returns a function that writes a text to the path. Returns an empty function if the path is
/// empty.
conformance::Sink sink(const std::string& path, const Context& context);

/// Returns the context for messages that a command prints in addition to its results. If a result
/// goes to standard output, these messages go to standard error.
Context context_for(const std::vector<Destination>& texts, const Context& context);

}  // namespace assay::cli
