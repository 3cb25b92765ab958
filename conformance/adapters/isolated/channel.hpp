#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "process/descriptor.hpp"

namespace assay::adapters {

/// A message, and the file that came with it, if any.
struct Message {
  std::string text;
  Descriptor file;
};

/// The longest message that either end writes; beyond it somebody else wrote into the connection.
inline constexpr std::uint64_t longest_message = std::uint64_t{16} << 20;

/// One end of a connection between judge and worker, for whole messages. It never waits: what is
/// posted goes and what comes is collected while `advance` is called, so that who waits has a
/// deadline of its own and sees everything else.
class Channel {
 public:
  enum class Files { taken, refused };
  /// The judge refuses the files that a worker sends: they would be opened here.
  Channel(Descriptor socket, Files files) : socket_(std::move(socket)), files_(files) {}

  int socket() const { return socket_.number(); }

  /// The next message to send; `file`: a descriptor that the other end gets a copy of, -1: none,
  /// valid until it is sent.
  void post(const std::string& text, int file = -1);
  bool is_sending() const { return sent_ < outgoing_.size(); }

  /// closed: nothing more can come; nonsense: what comes is no message.
  enum class State { open, closed, nonsense };
  /// Sends and collects as much as goes without waiting, up to the end of one message.
  State advance();
  /// The message that has come, if it is whole.
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

/// Waits until the message is sent; false where the other end is closed. For a worker, who has
/// nothing else to do.
bool send(Channel& channel, const std::string& text);
/// Waits for a message; nothing where the other end is closed, or what comes is none.
std::optional<Message> receive(Channel& channel);

}  // namespace assay::adapters
