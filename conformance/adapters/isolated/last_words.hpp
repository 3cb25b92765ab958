#pragma once

#include <string>

#include "process/descriptor.hpp"

namespace assay::adapters {

/// What a process printed last, read from a pipe without ever waiting.
class LastWords {
 public:
  explicit LastWords(Descriptor pipe);

  int pipe() const { return pipe_.number(); }
  /// Reads what there is, or a part of much; false once nothing can come any more.
  bool listen();
  void forget() { text_.clear(); }
  /// The last lines, " | " between them, other than printable characters as '?'; empty: it was
  /// silent.
  std::string lines() const;

 private:
  Descriptor pipe_;
  std::string text_;
};

}  // namespace assay::adapters
