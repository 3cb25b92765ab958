#pragma once

#include <string>

#include "assay/cli/command.hpp"
#include "assay/fixtures/record.hpp"

namespace assay::cli {

/// Calls `read`, which reads a file, and returns its result. If the file is unreadable, throws
/// UsageError. If the system lacks resources such as file handles, throws fixtures::OutOfResources.
template <class Read>
auto reading(Read&& read) {
  try {
    return read();
  } catch (const fixtures::OutOfResources&) {
    throw;
  } catch (const fixtures::StoreError& error) {
    const std::string text = error.what();
    throw UsageError(text.ends_with("No such file or directory")
                         ? text + "; accepted: a file that 'assay export' or --store wrote"
                         : text);
  }
}

}  // namespace assay::cli
