#pragma once

#include "assay/cli/command.hpp"
#include "assay/fixtures/record.hpp"

namespace assay::cli {

/// What `read` returns. A file that cannot be read is a mistake of the command line; a system that
/// lacks what reading takes is none. Errors: UsageError, fixtures::OutOfResources.
template <class Read>
auto reading(Read&& read) {
  try {
    return read();
  } catch (const fixtures::OutOfResources&) {
    throw;
  } catch (const fixtures::StoreError& error) {
    throw UsageError(error.what());
  }
}

}  // namespace assay::cli
