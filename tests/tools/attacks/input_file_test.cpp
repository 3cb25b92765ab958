#include "flags/input_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <future>
#include <thread>

#include "session.hpp"

namespace assay::tests {
namespace {

using cli::InputFile;
using cli::Patience;
using cli::read_input;
using namespace std::chrono_literals;

constexpr std::size_t plenty = 1 << 20;

/// Creates a named pipe in its own folder.
struct Pipe {
  Pipe() { EXPECT_EQ(mkfifo(path.c_str(), 0600), 0); }
  Folder folder;
  std::string path = folder / "pipe";
};

TEST(InputFiles, AreReadWhole) {
  const Folder folder;
  const std::string text(100'000, 'x');
  std::ofstream(folder / "file") << text;
  EXPECT_EQ(read_input(folder / "file", plenty).text, text);
  EXPECT_EQ(read_input(folder / "file", 99'999).fault, "is larger than 99999 bytes");
  EXPECT_EQ(read_input(folder / "none", plenty).fault, "is not there");
  EXPECT_EQ(read_input(folder / "", plenty).fault, "is a folder");
  EXPECT_EQ(read_input("/dev/null", plenty).fault, "");
}

TEST(InputFiles, PipeWithoutAWriterIsRefused) {
  const Pipe pipe;
  const InputFile input = read_input(pipe.path, plenty, {.for_writer = 50ms});
  EXPECT_EQ(input.fault, "is a pipe without a writer: no process opened it for 0.05 s");
}

TEST(InputFiles, APipeWhoseWriterIsSilentIsRefused) {
  const Pipe pipe;
  const int both = open(pipe.path.c_str(), O_RDWR | O_CLOEXEC);
  const InputFile input = read_input(pipe.path, plenty, {.for_writer = 10s, .for_bytes = 50ms});
  EXPECT_TRUE(has(input.fault, "is a pipe into which nothing was written for 0.05 s"))
      << input.fault;
  close(both);
}

/// The writer of the pipe starts later and writes piece by piece, as with <(command). The whole
/// text must be read.
TEST(InputFiles, APipeIsReadToItsEnd) {
  const Pipe pipe;
  const auto writer = std::async(std::launch::async, [&] {
    std::this_thread::sleep_for(50ms);
    std::ofstream file(pipe.path);
    file << "one " << std::flush;
    std::this_thread::sleep_for(50ms);
    file << "two";
  });
  const InputFile input = read_input(pipe.path, plenty);
  EXPECT_EQ(input.fault, "");
  EXPECT_EQ(input.text, "one two");
}

/// Runs every command that reads a user's text file. None of them may wait without end.
TEST(InputFiles, EveryCommandEnds) {
  const Pipe pipe;
  const cli::Registry registry = registry_of({"flash_like"});
  std::vector<std::future<Answer>> answers;
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"report", pipe.path},
        {"merge", pipe.path},
        {"list", "--coverage", "--report", pipe.path},
        {"sweep", "--lines", pipe.path},
        {"sweep", "--cases", pipe.path},
        {"sweep", "--last-failed", pipe.path},
        {"sweep", "--baseline", pipe.path},
        {"export", pipe.folder / "cases.h5", "--lines", pipe.path}})
    answers.push_back(std::async(std::launch::async, answer, std::cref(registry), command,
                                 std::cref(never_stop)));
  for (auto& printed : answers) {
    ASSERT_EQ(printed.wait_for(60s), std::future_status::ready) << "the command waits without end";
    const Answer result = printed.get();
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_PRED2(has, result.err, std::string("is a pipe without a writer"));
  }
}

}  // namespace
}  // namespace assay::tests
