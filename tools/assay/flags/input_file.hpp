#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace assay::cli {

/// How long a reader waits for a pipe: first until a process opens the pipe for writing, then for
/// each byte.
struct Patience {
  std::chrono::milliseconds for_writer{10'000}, for_bytes{60'000};
};

/// The text of a file, or the reason why it was not read: "is a folder", "cannot be opened for
/// reading", "is a pipe without a writer".
struct InputFile {
  std::string text, fault;
};

/// Reads at most `most` bytes from a file, or from a pipe such as that of `<(command)`. Waits no
/// longer than `patience` allows. Errors: std::bad_alloc.
InputFile read_input(const std::string& path, std::size_t most, const Patience& patience = {});

}  // namespace assay::cli
