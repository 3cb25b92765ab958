#pragma once

#include <string>

#include "process/descriptor.hpp"

namespace assay::adapters {

/// Collects the last output of a process from a pipe, without blocking.
class LastWords {
 public:
  explicit LastWords(Descriptor pipe);

  int pipe() const { return pipe_.number(); }
  /// Reads the available data, or only a part of it if there is much. Returns false at the end of
  /// the pipe.
  bool listen();
  void forget() { text_.clear(); }
  /// Returns the last lines, separated by " | ", with '?' for non-printable characters; empty if
  /// the process printed nothing.
  std::string lines() const;

 private:
  Descriptor pipe_;
  std::string text_;
};

}  // namespace assay::adapters
