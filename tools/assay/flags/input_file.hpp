#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace assay::cli {

/// Time limits for reading a pipe: until another process opens the pipe for writing, and then until
/// each next byte arrives.
struct Patience {
  std::chrono::milliseconds for_writer{10'000}, for_bytes{60'000};
};

/// The text of a file. If the file could not be read, `fault` says why: "is a folder", "cannot be
/// opened for reading", "is a pipe without a writer".
struct InputFile {
  std::string text, fault;
};

/// Reads at most `most` bytes from a file, or from a pipe such as the one of the shell expression
/// `<(command)`. Waits no longer than `patience` allows. Errors: std::bad_alloc.
InputFile read_input(const std::string& path, std::size_t most, const Patience& patience = {});

}  // namespace assay::cli
