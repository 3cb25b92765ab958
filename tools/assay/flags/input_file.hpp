#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace assay::cli {

/// How long a reader waits for a pipe: for somebody who opens it for writing, and for the next
/// byte of somebody who has.
struct Patience {
  std::chrono::milliseconds for_writer{10'000}, for_bytes{60'000};
};

/// What was read of a file, or why it was not: "is a folder", "cannot be opened for reading", "is a
/// pipe that nobody writes into".
struct InputFile {
  std::string text, fault;
};

/// Reads a file, or a pipe as of `<(command)`, of at most so many bytes. It waits no longer than
/// the patience allows. Errors: std::bad_alloc.
InputFile read_input(const std::string& path, std::size_t most, const Patience& patience = {});

}  // namespace assay::cli
