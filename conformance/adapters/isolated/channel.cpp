#include "isolated/channel.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace assay::adapters {
namespace {

/// Size (bytes) of the header of a message. The header contains the size of the message.
constexpr std::size_t head = sizeof(std::uint64_t);
/// The size of one read (bytes). A receiver allocates memory in these steps as bytes arrive,
/// because the size in the header may be wrong.
constexpr std::size_t part_bytes = 1 << 16;

std::uint64_t announced(const std::string& bytes) {
  std::uint64_t size = 0;
  std::memcpy(&size, bytes.data(), head);
  return size;
}

/// A control message that passes a file descriptor along with the bytes.
union Control {
  cmsghdr header;
  char bytes[CMSG_SPACE(sizeof(int))];
};

/// Sends the first bytes, and the file descriptor if `file` is valid. Returns the number of sent
/// bytes, or -1 on failure.
ssize_t send_some(int socket, const char* from, std::size_t size, int file) {
  iovec part = {const_cast<char*>(from), size};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  Control control = {};
  if (file >= 0) {
    message.msg_control = control.bytes;
    message.msg_controllen = sizeof control.bytes;
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &file, sizeof file);
  }
  return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/// Reads available bytes and, if `file` is not null, the file descriptor that came with them.
/// Returns the number of bytes, 0 at the end of the connection, or -1 on failure.
ssize_t read_some(int socket, char* to, std::size_t size, Descriptor* file) {
  iovec part = {to, size};
  Control control = {};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (file != nullptr) {
    message.msg_control = control.bytes;
    message.msg_controllen = sizeof control.bytes;
  }
  const ssize_t count = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  if (count <= 0 || file == nullptr) return count;
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_type != SCM_RIGHTS) return count;
  int number = -1;
  std::memcpy(&number, CMSG_DATA(header), sizeof number);
  *file = Descriptor(number);
  return count;
}

bool would_wait() { return errno == EAGAIN || errno == EWOULDBLOCK; }

void wait_for(const Channel& channel) {
  const short sending = channel.is_sending() ? POLLOUT : 0;
  pollfd polled = {channel.socket(), static_cast<short>(POLLIN | sending), 0};
  poll(&polled, 1, -1);
}

}  // namespace

void Channel::post(const std::string& text, int file) {
  const std::uint64_t size = text.size();
  outgoing_.assign(reinterpret_cast<const char*>(&size), sizeof size);
  outgoing_ += text;
  sent_ = 0;
  lent_file_ = file;
}

Channel::State Channel::send() {
  while (is_sending()) {
    const ssize_t count = send_some(socket(), outgoing_.data() + sent_, outgoing_.size() - sent_,
                                    sent_ == 0 ? lent_file_ : -1);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && would_wait()) break;
    if (count <= 0) return State::closed;
    sent_ += static_cast<std::size_t>(count);
  }
  return State::open;
}

bool Channel::is_whole() const {
  return incoming_.size() >= head && incoming_.size() - head == announced(incoming_);
}

Channel::State Channel::collect() {
  while (!is_whole()) {
    const std::size_t got = incoming_.size();
    const std::uint64_t wanted = got < head ? head : head + announced(incoming_);
    const std::size_t part = std::min<std::uint64_t>(wanted - got, part_bytes);
    incoming_.resize(got + part);
    const ssize_t count = read_some(socket(), incoming_.data() + got, part,
                                    files_ == Files::taken ? &file_ : nullptr);
    const int error = errno;
    incoming_.resize(got + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    errno = error;
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && would_wait()) break;
    if (count <= 0) return State::closed;
    if (incoming_.size() >= head && announced(incoming_) > longest_message) return State::nonsense;
  }
  return State::open;
}

Channel::State Channel::advance() {
  // The worker may have answered before it closed its end, so a received answer counts even if the
  // send failed.
  const State sent = send();
  const State collected = collect();
  return collected == State::open && !is_whole() ? sent : collected;
}

std::optional<Message> Channel::take() {
  if (!is_whole()) return std::nullopt;
  Message message{.text = incoming_.substr(head), .file = std::move(file_)};
  incoming_.clear();
  return message;
}

bool send(Channel& channel, const std::string& text) {
  channel.post(text);
  while (channel.advance() == Channel::State::open) {
    if (!channel.is_sending()) return true;
    wait_for(channel);
  }
  return false;
}

std::optional<Message> receive(Channel& channel) {
  while (true) {
    const Channel::State state = channel.advance();
    if (auto message = channel.take()) return message;
    if (state != Channel::State::open) return std::nullopt;
    wait_for(channel);
  }
}

}  // namespace assay::adapters
