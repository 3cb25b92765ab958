#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "process/descriptor.hpp"

namespace assay::adapters {

/// A message, with the file descriptor that came with it, if any.
struct Message {
  std::string text;
  Descriptor file;
};

/// Maximum size of a message (bytes). A longer message is invalid.
inline constexpr std::uint64_t longest_message = std::uint64_t{16} << 20;

/// One end of a connection between judge and worker, for whole messages. It never blocks: `advance`
/// sends and receives as much as possible, so that the caller can apply its own deadline and watch
/// other events.
class Channel {
 public:
  enum class Files { taken, refused };
  /// `files`: whether file descriptors are accepted. The judge refuses descriptors from a worker,
  /// because a received descriptor is an open file in the judge.
  Channel(Descriptor socket, Files files) : socket_(std::move(socket)), files_(files) {}

  int socket() const { return socket_.number(); }

  /// Sets the next message to send. `file`: a descriptor that is copied to the other end (-1:
  /// none). The descriptor must stay open until the message is sent.
  void post(const std::string& text, int file = -1);
  bool is_sending() const { return sent_ < outgoing_.size(); }

  /// open: more data may arrive; closed: no more data can arrive; nonsense: the received data is
  /// not a valid message.
  enum class State { open, closed, nonsense };
  /// Sends and receives as much as is possible without blocking, up to the end of one message.
  State advance();
  /// Returns the received message once it is complete.
  std::optional<Message> take();

 private:
  State send();
  State collect();
  bool is_whole() const;

  Descriptor socket_;
  Files files_;
  std::string outgoing_;
  std::size_t sent_ = 0;
  int lent_file_ = -1;
  std::string incoming_;
  Descriptor file_;
};

/// Waits until the message is sent; returns false if the other end is closed. Only the worker calls
/// this function; the judge must not block.
bool send(Channel& channel, const std::string& text);
/// Waits for a message; returns nothing if the other end is closed or the data is not a message.
std::optional<Message> receive(Channel& channel);

}  // namespace assay::adapters
