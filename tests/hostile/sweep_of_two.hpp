#pragma once

#include <gtest/gtest.h>
#include <sys/shm.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "assay/conformance/judge/prepared_case.hpp"
#include "assay/conformance/operators.hpp"
#include "assay/conformance/report/sentences.hpp"
#include "assay/conformance/sweep/sweep.hpp"
#include "leftovers.hpp"

namespace assay::hostile {

using Op = spec::FlashAttentionScoreGrad;
using conformance::CaseReport;
using conformance::Verdict;

/// A time limit that is long enough for a busy machine.
inline constexpr double long_time = 15;

/// A hostile action and its expected result: the verdict on the case, and words in one of the
/// findings.
struct Expected {
  std::string manner;
  Verdict verdict = Verdict::crash;
  std::string words;
  double seconds = long_time;  ///< time limit of a call
};

/// A short time limit for tests that wait until it has passed. A correct call needs less time
/// except on a very busy machine; for this exception see `expect_named_of`.
inline constexpr double short_time = 1;

inline std::ostream& operator<<(std::ostream& out, const Expected& e) { return out << e.manner; }

/// Returns the name of a test in the form "readsAddressZero".
inline std::string test_name(const testing::TestParamInfo<Expected>& info) {
  std::string name;
  bool is_first = false;
  for (const char c : info.param.manner) {
    const auto letter = static_cast<unsigned char>(c);
    if (std::isalnum(letter) != 0) name += static_cast<char>(is_first ? std::toupper(letter) : c);
    is_first = std::isalnum(letter) == 0;
  }
  return name;
}

/// Returns two cases. In the first one, with two batches, the kernel is hostile; in the second one
/// it is correct. Judging the first case takes long enough that an action 0.3 ms after the call
/// happens before the verdict.
inline std::vector<conformance::Case<Op>> two_cases() {
  return {conformance::parse_case<Op>({"--layout=BSND", "--dtype=fp32", "--seq_q=40", "--batch=2"}),
          conformance::parse_case<Op>({"--layout=BSND", "--dtype=fp32", "--seq_q=5"})};
}

inline std::vector<CaseReport> reports_of(spec::Implementation<Op>& kernel) {
  struct Collector final : conformance::SweepListener {
    std::vector<CaseReport> reports;
    void on_case(const CaseReport& report, std::int64_t) override { reports.push_back(report); }
  } collector;
  conformance::SweepListener* const listeners[] = {&collector};
  conformance::Sweep sweep(listeners, {});
  const auto cases = two_cases();
  sweep.start(std::ssize(cases), "hostile");
  for (std::size_t place = 0; place < cases.size(); ++place) {
    conformance::SweptCase<Op> swept = sweep.call<Op>(cases, place, kernel);
    swept.judge();
    sweep.conclude<Op>(cases, std::move(swept), kernel);
  }
  sweep.finish();
  return collector.reports;
}

inline std::string findings(const CaseReport& report) {
  std::string text;
  for (const auto& finding : report.findings) text += sentence_of(finding, report) + '\n';
  return text;
}

/// Expects the given verdict on the hostile case. The next case must conform.
inline void expect_named(const std::vector<CaseReport>& reports, const Expected& expected) {
  ASSERT_EQ(reports.size(), 2u);
  EXPECT_EQ(spec::to_string(reports[0].verdict.value()), spec::to_string(expected.verdict))
      << findings(reports[0]);
  EXPECT_NE(findings(reports[0]).find(expected.words), std::string::npos)
      << "'" << expected.words << "' is missing in: " << findings(reports[0]);
  EXPECT_EQ(spec::to_string(reports[1].verdict.value()), "conforms") << findings(reports[1]);
}

/// Judges the two cases with the kernel that `open` makes for a time limit. If the start of the
/// process or the second case exceeds a short limit, the machine may be busy, so both cases are
/// judged again with a long limit.
template <class Open>
void expect_named_of(const Open& open, Expected expected) {
  std::vector<CaseReport> reports;
  bool is_busy = true;
  try {
    reports = reports_of(*open(expected.seconds));
    is_busy = reports.size() == 2 && reports[1].verdict == Verdict::timeout;
  } catch (const spec::ImplementationFault&) {  // its process did not start in time
  }
  if (is_busy && expected.seconds < long_time) {
    if (expected.words == "time limit of 1 s") expected.words = "time limit of 15 s";
    reports = reports_of(*open(long_time));
  }
  expect_named(reports, expected);
}

/// Judges a single case. The judge must detect the fault without a later call of the kernel.
inline void expect_named_alone(spec::Implementation<Op>& kernel, const Expected& expected) {
  const CaseReport report = conformance::judge_case(
      conformance::parse_case<Op>({"--layout=BSND", "--dtype=fp32", "--seq_q=2", "--batch=2"}),
      kernel);
  EXPECT_EQ(spec::to_string(report.verdict.value()), spec::to_string(expected.verdict))
      << findings(report);
  EXPECT_NE(findings(report).find(expected.words), std::string::npos)
      << "'" << expected.words << "' is missing in: " << findings(report);
}

/// Passes the name of a hostile action to the processes that this process starts. At the end it
/// checks that no process, file descriptor, temporary file or shared memory remains.
class Hostilities {
 public:
  explicit Hostilities(const std::string& manner) {
    std::string folder = (std::filesystem::temp_directory_path() / "hostile-XXXXXX").string();
    if (mkdtemp(folder.data()) == nullptr) throw std::runtime_error(folder + " cannot be made");
    folder_ = folder;
    if (const char* const before = std::getenv("TMPDIR")) before_ = before;
    setenv("TMPDIR", folder_.c_str(), 1);
    setenv("HOSTILE", manner.c_str(), 1);
  }
  ~Hostilities() {
    unsetenv("HOSTILE");
    EXPECT_TRUE(mark_.vanishes()) << mark_.processes().size() << " processes are left";
    EXPECT_EQ(names_in("/proc/self/fd").size(), descriptors_) << "descriptors are left";
    EXPECT_EQ(names_in(folder_), std::vector<std::string>()) << "temporary files are left";
    EXPECT_EQ(names_in("/dev/shm", "hostile-"), std::vector<std::string>());
    EXPECT_EQ(shmget(0x4153, 0, 0), -1) << "System V memory is left";
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
    before_.empty() ? unsetenv("TMPDIR") : setenv("TMPDIR", before_.c_str(), 1);
  }
  const Mark& mark() const { return mark_; }
  Hostilities(const Hostilities&) = delete;
  Hostilities& operator=(const Hostilities&) = delete;

 private:
  Mark mark_;
  std::size_t descriptors_ = names_in("/proc/self/fd").size();
  std::filesystem::path folder_;
  std::string before_;  ///< the previous folder for temporary files
};

}  // namespace assay::hostile
