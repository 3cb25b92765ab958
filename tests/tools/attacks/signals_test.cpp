#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "program_process.hpp"

/// Sends the program the signals that a user, a terminal or a resource limit can send.
namespace assay::tests {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

/// Expects that this process has not changed the signal's default action.
void expect_default(int number) {
  struct sigaction action = {};
  sigaction(number, nullptr, &action);
  EXPECT_EQ(action.sa_handler, SIG_DFL) << "signal " << number;
}

/// Returns the command line of a sweep that runs the kernel in a worker process.
std::vector<std::string> isolated_sweep(const Folder& folder) {
  return {"sweep",      "nsa_compress_grad", "--random=0",
          "--isolated", "--report",          folder / "report.json"};
}

std::function<void()> in_temporary_folder(const Folder& folder) {
  fs::create_directory(folder / "tmp");
  return [path = folder / "tmp"] { setenv("TMPDIR", path.c_str(), 1); };
}

void wait_for_worker(Program& sweep, const Folder& folder) {
  while (!sweep.has_ended() && fs::is_empty(folder / "tmp")) std::this_thread::sleep_for(1ms);
}

TEST(Signals, EndingSignalsLeaveAReportAndNoTemporaryFile) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    expect_default(number);
    const Folder folder;
    Program sweep(isolated_sweep(folder), folder / "output", in_temporary_folder(folder));
    wait_for_worker(sweep, folder);
    sweep.kill(number);
    EXPECT_EQ(sweep.wait(), 3) << strsignal(number) << ": " << sweep.output();
    EXPECT_PRED2(has, sweep.output(), std::string("stopped after"));
    EXPECT_TRUE(fs::is_empty(folder / "tmp")) << strsignal(number);
    ASSERT_TRUE(fs::exists(folder / "report.json")) << strsignal(number);
    EXPECT_TRUE(nlohmann::json::parse(text_of(folder / "report.json")).contains("cases"));
  }
}

/// A program that was started with nohup ignores SIGHUP. It must continue after its terminal
/// closes.
TEST(Signals, AnIgnoredHangUpStaysIgnored) {
  const Folder folder;
  const auto prepare = in_temporary_folder(folder);
  Program sweep(
      {"sweep", "nsa_compress_grad", "--random=0", "--isolated", "--only=--violate=NSAC-C02:"},
      folder / "output", [prepare] {
        prepare();
        signal(SIGHUP, SIG_IGN);
      });
  wait_for_worker(sweep, folder);
  sweep.kill(SIGHUP);
  EXPECT_EQ(sweep.wait(), 0) << sweep.output();
}

/// A report exceeds the file size limit (ulimit -f). The program must report an error, as with a
/// full disk, and must not be killed by SIGXFSZ.
TEST(Signals, AFileSizeLimitIsAnErrorOfTheFileThatIsNamed) {
  expect_default(SIGXFSZ);
  const Folder folder;
  for (const std::string flag : {"--report", "--html", "--junit", "--store"}) {
    const std::string file = folder / ("result" + flag);
    Program sweep({"sweep", "nsa_compress_grad", "--random=0", "--only=--violate=NSAC", flag, file},
                  folder / "output", [] {
                    const rlimit limit{8192, 8192};
                    setrlimit(RLIMIT_FSIZE, &limit);
                  });
    EXPECT_EQ(sweep.wait(), 3) << flag << ": " << sweep.output();
    EXPECT_PRED2(has, sweep.output(), file);
    EXPECT_TRUE(has(sweep.output(), "File too large") ||
                has(sweep.output(), "the size limit of a file"))
        << sweep.output();
  }
}

/// The judge ignores SIGXFSZ. In the kernel's process the signal must have its default action.
TEST(Signals, IgnoredSignalsHaveTheirDefaultActionInAKernel) {
  const Folder folder;
  Program run({"run", "nsa_compress_grad",
               "--implementation=command:sh -c 'trap - XFSZ; ulimit -f 0; head -c 9999 /dev/zero "
               "> " +
                   folder / "file" + "' {}"},
              folder / "output");
  EXPECT_EQ(run.wait(), 1) << run.output();
  EXPECT_PRED2(has, run.output(), std::string("File size limit exceeded"));
}

}  // namespace
}  // namespace assay::tests
