#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "assay/cli/command.hpp"
#include "assay/conformance/report/listeners.hpp"
#include "assay/fixtures/destination.hpp"

namespace assay::cli {

/// What a text that a command writes is. A file is replaced by a text of its own kind alone.
enum class TextKind : std::uint8_t { report, page, junit, kills, trace, changes };

/// A file that a command writes or works on, and the flag or argument that names it. Without a path
/// it is not wanted.
struct Destination {
  std::string_view flag;
  std::string path;
  TextKind kind = TextKind::report;  ///< of a text
};

/// Whether files that are no results of this kind may be replaced.
enum class Replace : std::uint8_t { own_results, anything };

/// The flag --force.
void declare_force(CLI::App& app, Replace& replace);

/// Opens the destinations of a command before it computes anything, and leaves them as they are.
/// Errors: UsageError naming the flag, its value and what is in the way: a folder, a place where
/// nothing can be written, a folder that is not there, a file that holds something else, or two
/// flags for one file.
/// `texts`: "-" is standard output, of one of them. `others`: files of cases, or inputs.
void require_writable(const std::vector<Destination>& texts,
                      const std::vector<Destination>& others = {},
                      Replace replace = Replace::own_results);

/// Errors: UsageError where the folder at the path is not there and lies in one that is not there
/// either.
void require_place_of_folder(const Destination& folder);

/// Errors: UsageError where writing a file of cases would destroy something else.
void require_case_file(const Destination& file, fixtures::CaseFileKind kind);

bool is_standard_output(std::string_view path);

/// Where a text goes; an empty function for an empty path.
conformance::Sink sink(const std::string& path, const Context& context);

/// The context of what a command tells beside its results: on standard error where one of them has
/// standard output for itself.
Context beside(const std::vector<Destination>& texts, const Context& context);

}  // namespace assay::cli
