#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "assay/cli/command.hpp"
#include "assay/conformance/report/listeners.hpp"
#include "assay/fixtures/destination.hpp"

namespace assay::cli {

/// A file that a command writes or works on, and the flag or argument that names it. Without a path
/// it is not wanted.
struct Destination {
  std::string_view flag;
  std::string path;
};

/// What is asked of the files of a command before it computes anything: no text goes to a folder,
/// or where nothing can be written, and no two of them are one file. Makes missing folders.
/// Errors: UsageError naming the flag, its value and what is in the way.
/// `texts`: "-" is standard output, of one of them. `others`: files of cases, or inputs.
void require_writable(const std::vector<Destination>& texts,
                      const std::vector<Destination>& others = {});

/// Errors: UsageError where writing a file of cases would destroy something else.
void require_case_file(const Destination& file, fixtures::CaseFileKind kind);

bool is_standard_output(std::string_view path);

/// Where a text goes; an empty function for an empty path.
conformance::Sink sink(const std::string& path, const Context& context);

/// The context of what a command tells beside its results: on standard error where one of them has
/// standard output for itself.
Context beside(const std::vector<Destination>& texts, const Context& context);

}  // namespace assay::cli
