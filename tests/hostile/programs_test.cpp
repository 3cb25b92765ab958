// Programs that do whatever a program can do to the files that it is given, to its streams, and to the machine.
#include "assay/adapters/command.hpp"
#include "assay/adapters/fenced.hpp"
#include "assay/adapters/isolated.hpp"
#include "assay/adapters/serve.hpp"
#include "sweep_of_two.hpp"

namespace assay::hostile {
namespace {

constexpr Verdict crash = Verdict::crash, timeout = Verdict::timeout,
                  conforms = Verdict::conforms;
constexpr double long_enough = 5, while_memory_is_taken = 15;

/// Kept alive, and told its files line by line.
const std::vector<Expected> kept = {
    {"reads address zero", crash, "signal 11", long_enough},
    {"exits at once with 0", crash, "ended without an answer", long_enough},
    {"exits with 3", crash, "exit status 3", long_enough},
    {"kills itself", crash, "signal 9", long_enough},
    {"ends without an answer", crash, "ended without an answer", long_enough},
    {"hangs", timeout, "time limit", 1.5},
    {"hangs and ignores signals", timeout, "time limit", 1.5},
    {"stops itself", timeout, "time limit", 1.5},
    {"talks without end", crash, "still at work", long_enough},
    {"closes its output and stays", timeout, "time limit", 1.5},
    {"is a program that stays", timeout, "time limit", 1.5},
    {"says something else", crash, "answered 'well done'", long_enough},
    {"says control characters", crash, "wanted: done", long_enough},
    {"says a line without end", crash, "without an end", long_enough},
    {"says that it failed", crash, "no", long_enough},
    {"refuses by an odd number", Verdict::rejected_wrongly, "phase 2 refused", long_enough},
    {"crashes while a child holds its connection", crash, "signal 11", long_enough},
    {"ends while a child holds its connection", crash, "ended without an answer", long_enough},
    {"leaves a daemon", conforms, "", long_enough},
    {"leaves a daemon and hangs", timeout, "time limit", 1.5},
    {"leaves a daemon and crashes", crash, "signal 11", long_enough},
    {"leaves temporary files", conforms, "", long_enough},
    {"takes memory without end", crash, "the limit is 200 MiB", while_memory_is_taken},
    {"takes shared memory", crash, "the limit is 200 MiB", while_memory_is_taken},
    {"prints without end", timeout, "time limit", 1.5},
    {"stays behind its input", conforms, "", long_enough},
    {"removes the file", crash, "case.h5", long_enough},
    {"empties the file", crash, "case.h5", long_enough},
    {"writes letters into the file", crash, "case.h5", long_enough},
    {"cuts the file", crash, "case.h5", long_enough},
    {"puts a folder in the file's place", crash, "case.h5", long_enough},
    {"writes two implementations", crash, "2 implementations", long_enough},
    {"writes an output of another shape", crash, "dq", long_enough},
    {"writes an output that nobody knows", crash, "dx", long_enough},
    {"writes outputs that are wrong", Verdict::nonconformant_proven, "dq", long_enough},
};

/// Started for every case.
const std::vector<Expected> started = {
    {"reads address zero", crash, "signal 11", long_enough},
    {"exits with 3", crash, "exit status 3", long_enough},
    {"hangs", timeout, "time limit", 1.5},
    {"leaves a child", conforms, "", long_enough},
    {"leaves a daemon", conforms, "", long_enough},
    {"crashes while a child holds its connection", crash, "signal 11", long_enough},
};

void expect_of_program(const Expected& expected, const std::string& arguments) {
  const Hostilities hostilities(expected.manner);
  const auto kernel = adapters::isolated<Op>(
      {.words = {"worker", "ASSAY_NUMERICS=fp32_staging,order=fixed " ASSAY_HOSTILE_PROGRAM + arguments}},
      {.seconds = expected.seconds, .bytes = 200 << 20});
  expect_named(reports_of(*kernel), expected);
}

class Kept : public testing::TestWithParam<Expected> {};
TEST_P(Kept, IsNamedAndTheNextCaseConforms) { expect_of_program(GetParam(), ""); }
INSTANTIATE_TEST_SUITE_P(Program, Kept, testing::ValuesIn(kept), test_name);

class Started : public testing::TestWithParam<Expected> {};
TEST_P(Started, IsNamedAndTheNextCaseConforms) { expect_of_program(GetParam(), " {}"); }
INSTANTIATE_TEST_SUITE_P(Program, Started, testing::ValuesIn(started), test_name);

}  // namespace
}  // namespace assay::hostile

int main(int argc, char** argv) {
  using namespace assay;
  if (argc > 2 && std::string(argv[1]) == "worker") {
    adapters::serve<hostile::Op>([&] {
      return adapters::fenced<hostile::Op>([&] {
        return adapters::open_command<hostile::Op>(argv[2], {.answer = std::chrono::hours(1)});
      });
    });
    return 0;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
