#include "channel.hpp"

#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

namespace assay::adapters {
namespace {

/// Beyond it somebody else wrote into the connection.
constexpr std::uint64_t longest_message = 1 << 30;

/// A descriptor travels beside the bytes, as one control message.
union Control {
  cmsghdr header;
  char bytes[CMSG_SPACE(sizeof(int))];
};

/// Sends a part of the bytes and, with the first of them, the file; the number sent, or -1.
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
  ssize_t sent = 0;
  do {
    sent = sendmsg(socket, &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent;
}

}  // namespace

bool Channel::send(const std::string& text, int file) {
  const std::uint64_t size = text.size();
  std::string bytes(sizeof size, '\0');
  std::memcpy(bytes.data(), &size, sizeof size);
  bytes += text;
  for (std::size_t sent = 0; sent < bytes.size();) {
    const ssize_t count =
        send_some(socket(), bytes.data() + sent, bytes.size() - sent, sent == 0 ? file : -1);
    if (count <= 0) return false;
    sent += static_cast<std::size_t>(count);
  }
  return true;
}

bool Channel::read(char* to, std::size_t size, Descriptor* file) {
  for (std::size_t got = 0; got < size;) {
    iovec part = {to + got, size - got};
    Control control = {};
    msghdr message = {};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.bytes;
    message.msg_controllen = sizeof control.bytes;
    const ssize_t count = recvmsg(socket(), &message, MSG_CMSG_CLOEXEC);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    got += static_cast<std::size_t>(count);
    const cmsghdr* header = CMSG_FIRSTHDR(&message);
    if (file == nullptr || header == nullptr || header->cmsg_type != SCM_RIGHTS) continue;
    int number = -1;
    std::memcpy(&number, CMSG_DATA(header), sizeof number);
    *file = Descriptor(number);
  }
  return true;
}

std::optional<Message> Channel::receive() {
  Message message;
  std::uint64_t size = 0;
  if (!read(reinterpret_cast<char*>(&size), sizeof size, &message.file)) return std::nullopt;
  if (size > longest_message) return std::nullopt;
  message.text.resize(size);
  if (!read(message.text.data(), size, nullptr)) return std::nullopt;
  return message;
}

}  // namespace assay::adapters
