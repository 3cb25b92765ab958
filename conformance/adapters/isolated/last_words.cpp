#include "isolated/last_words.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace assay::adapters {
namespace {

constexpr std::size_t kept_bytes = 4096;
constexpr std::size_t quoted_bytes = 600;
constexpr int quoted_lines = 5;
constexpr int parts_at_a_time = 32;  // bounds one call, since a process may print without end

}  // namespace

LastWords::LastWords(Descriptor pipe) : pipe_(std::move(pipe)) {
  fcntl(pipe_.number(), F_SETFL, O_NONBLOCK);
}

bool LastWords::listen() {
  char part[4096];
  for (int k = 0; k < parts_at_a_time; ++k) {
    const ssize_t count = read(pipe_.number(), part, sizeof part);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno == EAGAIN;
    if (count == 0) return false;
    text_.append(part, static_cast<std::size_t>(count));
    if (text_.size() > kept_bytes) text_.erase(0, text_.size() - kept_bytes);
  }
  return true;
}

std::string LastWords::lines() const {
  std::size_t end = text_.find_last_not_of("\r\n");
  if (end == std::string::npos) return "";
  std::size_t begin = ++end;
  for (int line = 0; line < quoted_lines && begin > 0; ++line) {
    const std::size_t before = text_.rfind('\n', begin - 1);
    const std::size_t start = before == std::string::npos ? 0 : before + 1;
    if (end - start > quoted_bytes && line > 0) break;
    begin = before == std::string::npos ? 0 : before;
  }
  if (end - begin > quoted_bytes) begin = end - quoted_bytes;
  std::string quoted;
  for (const char c : text_.substr(begin, end - begin)) {
    if (c == '\n') {
      if (!quoted.empty() && !quoted.ends_with(" | ")) quoted += " | ";
    } else {
      quoted += c >= ' ' && c <= '~' ? c : '?';
    }
  }
  return quoted;
}

}  // namespace assay::adapters
