#include "printing/waiting.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "../session.hpp"

namespace assay::tests {
namespace {

/// Runs `work` for `time`, and returns the text that was printed to standard error.
std::string heard(const cli::Task& work, std::chrono::milliseconds time, bool terminal = false,
                  std::int64_t done = 0) {
  const cli::Registry registry;
  std::ostringstream out, err;
  const cli::Context context{.registry = registry,
                             .out = out,
                             .err = err,
                             .stop = never_stop,
                             .terminal = terminal,
                             .command_line = "test"};
  {
    cli::Waiting waiting(context, work);
    waiting.phase("the implementation runs");
    waiting.done(done);
    std::this_thread::sleep_for(time);
  }
  return err.str();
}

constexpr std::chrono::milliseconds long_enough{2600}, short_enough{200};

TEST(Waiting, AfterTwoSecondsSaysWhatGoesOnAndHowLongItMayTake) {
  EXPECT_EQ(heard({.what = "run", .expected_seconds = 150}, long_enough),
            "run: the implementation runs, 2 s so far, about 2 min 30 s in all\n");
  EXPECT_EQ(heard({.what = "run", .is_foreign = true}, long_enough),
            "run: the implementation runs, 2 s so far\n");
}

TEST(Waiting, TimeLeftFollowsFromTheFinishedCases) {
  const std::string text = heard({.what = "check", .cases = 5}, long_enough, false, 1);
  const std::string start = "check: 1 of 5 cases, the implementation runs, 2 s so far, about ";
  EXPECT_TRUE(text.starts_with(start)) << text;
  EXPECT_TRUE(text.ends_with(" s left\n")) << text;
}

TEST(Waiting, ShortWorkOfOurOwnSaysNothing) {
  EXPECT_EQ(heard({.what = "run", .expected_seconds = 0.01}, long_enough), "");
  EXPECT_EQ(heard({.what = "run", .expected_seconds = 150}, short_enough), "");
}

TEST(Waiting, LineOnATerminalIsDrawnAndErased) {
  const std::string text = heard({.what = "run", .expected_seconds = 150}, long_enough, true);
  EXPECT_TRUE(text.starts_with("\rrun: ")) << text;
  EXPECT_TRUE(text.ends_with("\r\x1b[K")) << text;
}

TEST(Waiting, EachWorkHasItsOwnMessages) {
  const cli::Registry registry;
  std::ostringstream out, err;
  const cli::Context context{
      .registry = registry, .out = out, .err = err, .stop = never_stop, .command_line = "test"};
  {
    cli::Waiting waiting(context, {.what = "a short work"});  // the first message after 10 s
    waiting.phase("the first step");
    waiting.stop();
    std::this_thread::sleep_for(short_enough);
    waiting.begin({.what = "a long work", .is_foreign = true});
    std::this_thread::sleep_for(long_enough);
    waiting.stop();
    std::this_thread::sleep_for(long_enough);
  }
  EXPECT_EQ(err.str(), "a long work: 2 s so far\n");
}

TEST(Waiting, TimesAreWrittenAsPeopleReadThem) {
  EXPECT_EQ(cli::duration_text(0.2), "1 s");
  EXPECT_EQ(cli::duration_text(125), "2 min 05 s");
  EXPECT_EQ(cli::duration_text(3720), "1 h 02 min");
}

}  // namespace
}  // namespace assay::tests
