#pragma once

#include <optional>
#include <string>

#include "descriptor.hpp"

namespace assay::adapters {

/// A message, and the file that came with it, if any.
struct Message {
  std::string text;
  Descriptor file;
};

/// One end of a connection between judge and worker, for whole messages.
class Channel {
 public:
  explicit Channel(Descriptor socket) : socket_(std::move(socket)) {}

  int socket() const { return socket_.number(); }
  /// False where the other end is closed. `file`: a descriptor that the other end gets a copy of, -1: none.
  bool send(const std::string& text, int file = -1);
  /// Waits for a message; nothing where the other end is closed, or what comes is none.
  std::optional<Message> receive();

 private:
  bool read(char* to, std::size_t size, Descriptor* file);
  Descriptor socket_;
};

}  // namespace assay::adapters
