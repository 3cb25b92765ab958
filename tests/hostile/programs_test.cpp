// Tests programs that attack their files, their streams and the machine, in every way that a
// program can.
#include "assay/adapters/command.hpp"
#include "assay/adapters/fenced.hpp"
#include "assay/adapters/isolated.hpp"
#include "assay/adapters/serve.hpp"
#include "build_paths.hpp"
#include "sweep_of_two.hpp"

namespace assay::hostile {
namespace {

constexpr Verdict crash = Verdict::crash, timeout = Verdict::timeout,
                  structural = Verdict::nonconformant_structural, conforms = Verdict::conforms;

/// Actions of a program that keeps running and reads the paths of its case files, one per line.
const std::vector<Expected> kept = {
    {"reads address zero", crash, "signal 11"},
    {"exits at once with 0", crash, "ended without an answer"},
    {"exits with 3", crash, "exit status 3"},
    {"kills itself", crash, "signal 9"},
    {"ends without an answer", crash, "ended without an answer"},
    {"hangs", timeout, "time limit", short_time},
    {"hangs and ignores signals", timeout, "time limit", short_time},
    {"stops itself", timeout, "time limit", short_time},
    {"talks without end", crash, "still at work"},
    {"closes its output and stays", timeout, "time limit", short_time},
    {"is a program that stays", timeout, "time limit", short_time},
    {"says something else", crash, "answered 'well done'"},
    {"says two things", crash, "wrote 'done' after its answer"},
    {"ends with 3 after its answer", crash, "ended with exit status 3 after its answer"},
    {"is killed after its answer", crash, "ended with signal 9 (Killed) after its answer"},
    {"is killed late after its answer", crash, "ended with signal 9 (Killed) after its answer"},
    {"ends with 0 after its answer", conforms, ""},
    {"says control characters", crash, "expected: done"},
    {"says a line without end", crash, "a line of more than 64 KiB"},
    {"says that it failed", crash, "no"},
    {"refuses by an odd number", Verdict::rejected_wrongly, "phase 2 refused"},
    {"crashes while a child holds its connection", crash, "signal 11"},
    {"ends while a child holds its connection", crash, "ended without an answer"},
    {"leaves a daemon", conforms, ""},
    {"leaves a daemon and hangs", timeout, "time limit", short_time},
    {"leaves a daemon and crashes", crash, "signal 11"},
    {"leaves temporary files", conforms, ""},
    {"takes memory without end", crash, "the limit is 200 MiB"},
    {"takes shared memory", crash, "the limit is 200 MiB"},
    {"prints without end", timeout, "time limit", short_time},
    {"stays after its input", conforms, ""},
    {"removes the file", crash, "case.h5"},
    {"removes the folder of the file", crash, "case.h5"},
    {"empties the file", crash, "case.h5"},
    {"writes letters into the file", crash, "case.h5"},
    {"cuts the file", crash, "case.h5"},
    {"puts a folder in the file's place", crash, "case.h5"},
    {"writes two implementations", crash, "2 implementations"},
    {"writes an output of another shape", crash, "dq"},
    {"writes an output that nobody knows", crash, "dx"},
    {"writes outputs that are wrong", Verdict::nonconformant_proven, "dq"},
    {"writes into an input", structural, "modified the input key in its file, first at byte 4"},
};

/// Actions of a program that is started again for each case.
const std::vector<Expected> started = {
    {"reads address zero", crash, "signal 11"},
    {"exits with 3", crash, "exit status 3"},
    {"hangs", timeout, "time limit", short_time},
    {"leaves a child", conforms, ""},
    {"leaves a daemon", conforms, ""},
    {"writes into an input", structural, "modified the input key in its file, first at byte 4"},
    {"crashes while a child holds its connection", crash, "signal 11"},
};

/// The number of runs of each case. If a kernel declares a fixed order of additions, the judge runs
/// each case twice.
enum class Runs { once, twice };

std::unique_ptr<spec::Implementation<Op>> opened(const std::string& arguments, double seconds,
                                                 Runs runs) {
  const std::string numerics =
      std::string("ASSAY_NUMERICS=fp32_staging") + (runs == Runs::once ? " " : ",order=fixed ");
  return adapters::isolated<Op>(
      {.words = {"worker", numerics + tests::hostile_program() + arguments}},
      {.seconds = seconds, .bytes = 200 << 20});
}

void expect_of_program(const Expected& expected, const std::string& arguments) {
  const Hostilities hostilities(expected.manner);
  expect_named_of([&](double seconds) { return opened(arguments, seconds, Runs::twice); },
                  expected);
}

class Kept : public testing::TestWithParam<Expected> {};
TEST_P(Kept, IsNamedAndTheNextCaseConforms) { expect_of_program(GetParam(), ""); }
INSTANTIATE_TEST_SUITE_P(Program, Kept, testing::ValuesIn(kept), test_name);

/// Runs a single case, so that no later call can detect an action that happens after the answer.
class KeptForOne : public testing::TestWithParam<Expected> {};
TEST_P(KeptForOne, IsNamed) {
  const Hostilities hostilities(GetParam().manner);
  expect_named_alone(*opened("", GetParam().seconds, Runs::once), GetParam());
}
INSTANTIATE_TEST_SUITE_P(
    Program, KeptForOne,
    testing::Values(Expected{"says two things", crash, "wrote 'done' after its answer"},
                    Expected{"says half a line more", crash, "wrote 'and' after its answer"},
                    Expected{"ends with 3 after its answer", crash, "exit status 3 after"},
                    Expected{"is killed after its answer", crash, "(Killed) after its answer"},
                    Expected{"ends with 0 after its answer", conforms, ""}),
    test_name);

/// The judge's first query asks for the kernel's declared arithmetic. Settings that the program
/// changes before it answers belong to its start and are not reported.
class Changes : public testing::TestWithParam<Expected> {};
TEST_P(Changes, IsNamedAndTheNextCaseConforms) {
  const Hostilities hostilities(GetParam().manner);
  const auto kernel =
      adapters::isolated<Op>({.words = {"worker", tests::hostile_program()}}, {.seconds = 15});
  expect_named(reports_of(*kernel), GetParam());
}
INSTANTIATE_TEST_SUITE_P(
    Program, Changes,
    testing::Values(Expected{"lowers its descriptors", structural,
                             "left RLIMIT_NOFILE at 5, where it was "},
                    Expected{"sets its umask", structural, "left the umask at 777, where it was 0"},
                    Expected{"moves elsewhere", structural, "left the working folder at '/'"}),
    test_name);

class Started : public testing::TestWithParam<Expected> {};
TEST_P(Started, IsNamedAndTheNextCaseConforms) { expect_of_program(GetParam(), " {}"); }
INSTANTIATE_TEST_SUITE_P(Program, Started, testing::ValuesIn(started), test_name);

}  // namespace
}  // namespace assay::hostile

int main(int argc, char** argv) {
  using namespace assay;
  if (argc > 2 && std::string(argv[1]) == "worker") {
    const std::string command = argv[2];  // `argv` is cleared when the worker is contained
    adapters::serve<hostile::Op>([&] {
      return adapters::fenced<hostile::Op>([&] {
        return adapters::open_command<hostile::Op>(command, {.answer = std::chrono::hours(1)});
      });
    });
    return 0;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
