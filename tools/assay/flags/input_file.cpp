#include "flags/input_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <system_error>
#include <thread>

#include "assay/fixtures/descriptor.hpp"

namespace assay::cli {
namespace {

using Clock = std::chrono::steady_clock;

std::string seconds_text(std::chrono::milliseconds time) {
  return fmt::format("{} s", std::chrono::duration<double>(time).count());
}

/// Reads a file that was opened in non-blocking mode.
class Reading {
 public:
  Reading(int file, std::size_t most, const Patience& patience)
      : file_(file), most_(most), patience_(patience) {
    struct stat status = {};
    may_wait_for_writer_ = fstat(file, &status) == 0 && S_ISFIFO(status.st_mode);
  }

  InputFile read_all() {
    while (has_more()) {
    }
    return std::move(input_);
  }

 private:
  bool has_more() {
    char part[1 << 16];
    const ssize_t count = ::read(file_, part, sizeof part);
    if (count > 0) {
      input_.text.append(part, static_cast<std::size_t>(count));
      may_wait_for_writer_ = false;
      quiet_since_ = Clock::now();
      return input_.text.size() <= most_ || fails(fmt::format("is larger than {} bytes", most_));
    }
    if (count == 0) return may_wait_for_writer_ && waits_for_writer();
    if (errno == EINTR) return true;
    return errno == EAGAIN ? waits_for_bytes() : fails("cannot be read");
  }

  /// Waits until a process opens the pipe for writing. read() also reports an end of file before
  /// any process has opened the pipe. Only poll() distinguishes the two cases: it reports a hang-up
  /// after the last writer closed the pipe.
  bool waits_for_writer() {
    pollfd polled = {file_, POLLIN, 0};
    if (::poll(&polled, 1, 0) > 0 && (polled.revents & POLLIN) == 0) return false;
    if (Clock::now() - quiet_since_ > patience_.for_writer)
      return fails("is a pipe without a writer: no process opened it for " +
                   seconds_text(patience_.for_writer));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return true;
  }

  bool waits_for_bytes() {
    may_wait_for_writer_ = false;
    if (Clock::now() - quiet_since_ > patience_.for_bytes)
      return fails("is a pipe into which nothing was written for " +
                   seconds_text(patience_.for_bytes) +
                   "; write the data to a file first, and name "
                   "this file");
    pollfd polled = {file_, POLLIN, 0};
    ::poll(&polled, 1, 100);
    return true;
  }

  bool fails(const std::string& fault) {
    input_.fault = fault;
    return false;
  }

  int file_;
  std::size_t most_;
  Patience patience_;
  bool may_wait_for_writer_ = false;  ///< true until a process opened the pipe for writing
  Clock::time_point quiet_since_ = Clock::now();
  InputFile input_;
};

}  // namespace

InputFile read_input(const std::string& path, std::size_t most, const Patience& patience) {
  const fixtures::Descriptor file(
      ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  if (!file && errno == ENOMEM) throw std::bad_alloc();
  if (!file)
    return {.text = {},
            .fault = errno == ENOENT ? "is not there"
                                     : "cannot be opened for reading: " +
                                           std::generic_category().message(errno)};
  struct stat status = {};
  if (fstat(file.number(), &status) == 0 && S_ISDIR(status.st_mode))
    return {.text = {}, .fault = "is a folder"};
  return Reading(file.number(), most, patience).read_all();
}

}  // namespace assay::cli
