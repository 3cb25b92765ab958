#include "assay/adapters/isolated.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

#include "assay/adapters/serve.hpp"
#include "assay/spec/not_asked.hpp"
#include "assay/spec/takes_formulas.hpp"
#include "leftovers.hpp"
#include "worker_kernels.hpp"

namespace assay::tests {
namespace {

using Kind = spec::ImplementationFault::Kind;
using Clock = std::chrono::steady_clock;

/// Describes a command that runs this test program as a worker process.
adapters::WorkerProgram worker(const std::string& manner) {
  return {.path = "/proc/self/exe", .words = {"worker", manner}};
}

std::unique_ptr<spec::Implementation<Compress>> watched(const std::string& manner,
                                                        adapters::WorkerLimits limits = {}) {
  return adapters::isolated<Compress>(worker(manner), limits);
}

void expect_same(const Compress::Outputs& a, const Compress::Outputs& b) {
  EXPECT_EQ(a.input_grad.bytes, b.input_grad.bytes);
  EXPECT_EQ(a.weight_grad.bytes, b.weight_grad.bytes);
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Expects that a run ends in a fault of this kind, and that the fault's text contains all strings
/// in `parts`.
void expect_fault(spec::Implementation<Compress>& kernel, Kind kind,
                  const std::vector<std::string>& parts) {
  Trial trial;
  try {
    kernel.run(trial.problem, trial.inputs, trial.outputs);
    FAIL() << kernel.name() << " was not detected";
  } catch (const spec::ImplementationFault& fault) {
    EXPECT_EQ(fault.kind(), kind) << fault.what();
    for (const std::string& part : parts) EXPECT_PRED2(has, fault.what(), part);
  }
}

void expect_fault(const std::string& manner, Kind kind, const std::vector<std::string>& parts,
                  adapters::WorkerLimits limits = {}) {
  const auto kernel = watched(manner, limits);
  expect_fault(*kernel, kind, parts);
}

TEST(Isolated, AnswersLikeAnInProcessKernel) {
  const auto here = worker_kernel("good"), there = watched("good");
  EXPECT_EQ(there->name(), "kernel good");
  EXPECT_TRUE(there->checks_arguments());
  EXPECT_FALSE(watched("checks nothing")->checks_arguments());
  Trial a, b;
  EXPECT_EQ(there->numerics(a.problem), here->numerics(a.problem));
  here->run(a.problem, a.inputs, a.outputs);
  there->run(b.problem, b.inputs, b.outputs);
  expect_same(a.outputs, b.outputs);
  here->run_call(a.call, a.problem, a.inputs, a.outputs);
  there->run_call(b.call, b.problem, b.inputs, b.outputs);
  expect_same(a.outputs, b.outputs);
  ASSERT_EQ(there->metrics().size(), 1u);
  EXPECT_EQ(there->metrics()[0].value, 2);
}

TEST(Isolated, DeclaresTheFormulasThatTheKernelComputes) {
  const auto plain = watched("good"), formulas = watched("computes formulas"),
             gradients = watched("computes formulas and their gradients");
  EXPECT_EQ(spec::takes_formulas(*plain), nullptr);
  ASSERT_NE(spec::takes_formulas(*formulas), nullptr);
  EXPECT_FALSE(spec::takes_formulas(*formulas)->has_formula_gradients());
  ASSERT_NE(spec::takes_formulas(*gradients), nullptr);
  EXPECT_TRUE(spec::takes_formulas(*gradients)->has_formula_gradients());
}

TEST(Isolated, PassesQueriesAboutACall) {
  const auto there = watched("good");
  Trial trial;
  EXPECT_EQ(there->unsupported(trial.call), std::nullopt);
  EXPECT_NO_THROW(there->check(trial.call));
  trial.call.attributes.act_seq_len_type = 7;
  EXPECT_EQ(there->unsupported(trial.call), "weights of a Sunday");
  trial.call.attributes.layout.reset();
  try {
    there->check(trial.call);
    FAIL();
  } catch (const spec::Rejected& answer) {
    EXPECT_EQ(answer.status(), spec::Status::param_nullptr);
    EXPECT_STREQ(answer.what(), "layout is a null pointer");
  }
}

TEST(Isolated, ForwardChangesItsInputs) {
  const auto there = watched("good");
  Trial trial;
  ASSERT_TRUE(there->has_forward());
  there->forward(trial.problem, trial.inputs);
  EXPECT_EQ(trial.inputs.weight.load(1), 42);
  EXPECT_EQ(trial.inputs.input.bytes, Trial().inputs.input.bytes);
  try {
    watched("writes after its forward")->forward(trial.problem, trial.inputs);
    FAIL();
  } catch (const spec::ImplementationFault& fault) {
    EXPECT_EQ(fault.kind(), Kind::wrote_outside);
  }
}

TEST(Isolated, ExceptionsKeepTheirTypes) {
  Trial trial;
  const auto run = [&](const std::string& manner) {
    watched(manner)->run(trial.problem, trial.inputs, trial.outputs);
  };
  EXPECT_THROW(run("refuses"), spec::Rejected);
  EXPECT_THROW(run("does not offer it"), spec::Unsupported);
  try {
    run("throws");
    FAIL();
  } catch (const std::exception& failure) {
    EXPECT_STREQ(failure.what(), "not my day");
  }
  EXPECT_THROW(run("throws a number"), std::runtime_error);
  expect_fault("was seen", Kind::timeout, {"seen"});
  expect_fault("gets no memory", Kind::out_of_memory, {"no memory is left"});
}

TEST(Isolated, ACrashIsNamedWithItsSignalAndItsLastWords) {
  expect_fault("crashes", Kind::crash,
               {"SIGABRT", "Aborted", "last words: first line | second line | ?odd"});
}

TEST(Isolated, AnExitIsNamedWithItsCode) { expect_fault("exits", Kind::crash, {"exit code 7"}); }

TEST(Isolated, AHangEndsAtTheLimit) {
  const auto start = Clock::now();
  expect_fault("hangs", Kind::timeout, {"time limit of 1.25 s"}, {.seconds = 1.25});
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(5));
}

TEST(Isolated, AWorkerWithoutConnectionIsNamed) {
  expect_fault("closes everything", Kind::crash, {"exit code 0 instead of answering"});
}

TEST(Isolated, WriteIntoTheConnectionIsReported) {
  const auto kernel = watched("writes into sockets");
  expect_fault(*kernel, Kind::crash, {"sent an invalid answer"});
  EXPECT_NO_THROW(kernel->check(Trial().call));
}

TEST(Isolated, MemoryEndsAtTheLimit) {
  expect_fault("takes all memory", Kind::out_of_memory, {"the limit is 200 MiB"},
               {.seconds = 20, .bytes = 200 << 20});
}

TEST(Isolated, MemoryOfEarlierTensorsIsNotReused) {
  const auto kernel = watched("takes 230 MiB the second time", {.seconds = 20, .bytes = 200 << 20});
  Trial large;
  large.inputs.input = spec::contiguous_tensor(spec::DType::fp32, {15 << 20});
  kernel->run(large.problem, large.inputs, large.outputs);
  expect_fault(*kernel, Kind::out_of_memory, {"the limit is 200 MiB"});
}

TEST(Isolated, OutputsOfOneCallAreNotSeenInTheNext) {
  const auto kernel = watched("writes nothing the second time");
  Trial first, second;
  kernel->run(first.problem, first.inputs, first.outputs);
  kernel->run(second.problem, second.inputs, second.outputs);
  expect_same(second.outputs, Trial().outputs);
}

TEST(Isolated, ByteOutsideAStorageIsReportedWithTensorSideAndDistance) {
  expect_fault("writes after", Kind::wrote_outside,
               {"1 byte after the storage of input_grad, at a distance of 1"});
  expect_fault("writes before", Kind::wrote_outside,
               {"2 bytes before the storage of weight_grad, at distances of 3 to 8"});
  expect_fault("writes after and crashes", Kind::crash,
               {"SIGABRT", "before that it wrote 1 byte after the storage of input_grad"});
}

TEST(Isolated, AWriteBeyondTheGuardsEndsTheWorker) {
  expect_fault("writes far after", Kind::crash, {});
}

TEST(Isolated, AModifiedInputIsNamedWithTheByte) {
  expect_fault("scribbles", Kind::inputs_modified,
               {"the input input in 2 bytes, first at byte 5 of its storage"});
}

TEST(Isolated, ReplacedOutputIsDetected) {
  Trial a, b, c;
  worker_kernel("good")->run(a.problem, a.inputs, a.outputs);
  watched("replaces by an equal one")->run(b.problem, b.inputs, b.outputs);
  expect_same(a.outputs, b.outputs);
  watched("replaces")->run(c.problem, c.inputs, c.outputs);
  EXPECT_NE(c.outputs.input_grad.strides, a.outputs.input_grad.strides);
  EXPECT_EQ(c.outputs.weight_grad.bytes, a.outputs.weight_grad.bytes);
}

TEST(Isolated, PrintedTextDoesNotDisturbTheProtocol) {
  Trial a, b;
  worker_kernel("good")->run(a.problem, a.inputs, a.outputs);
  watched("chatters")->run(b.problem, b.inputs, b.outputs);
  expect_same(a.outputs, b.outputs);
}

TEST(Isolated, AKernelThatPrintsWithoutEndEndsAtTheLimit) {
  expect_fault("chatters without end", Kind::timeout, {"time limit of 1 s", "aaaa"},
               {.seconds = 1});
}

TEST(Isolated, WorkerIsReplacedAfterACrash) {
  const auto kernel = watched("loses its device");
  Trial trial;
  trial.inputs.weight.store(0, 0);
  EXPECT_THROW(kernel->run(trial.problem, trial.inputs, trial.outputs), spec::ImplementationFault);
  Trial next;
  EXPECT_NO_THROW(kernel->run(next.problem, next.inputs, next.outputs));
}

TEST(Isolated, TheNextCallFindsAWorkerAgain) {
  const auto kernel = watched("crashes");
  for (int k = 0; k < 3; ++k) expect_fault(*kernel, Kind::crash, {"SIGABRT"});
  const Trial trial;
  EXPECT_NO_THROW(kernel->check(trial.call));
  spec::Call<Compress> deadly = trial.call;
  deadly.attributes.layout = "crash";
  EXPECT_THROW(kernel->check(deadly), spec::ImplementationFault);
  EXPECT_NO_THROW(kernel->check(trial.call));
}

TEST(Isolated, AnImplementationThatCannotBeMadeIsRefused) {
  try {
    watched("refuses to start");
    FAIL();
  } catch (const std::invalid_argument& refusal) {
    EXPECT_STREQ(refusal.what(), "no such kernel");
  }
  EXPECT_THROW(watched("dies at the start"), spec::ImplementationFault);
  EXPECT_THROW(adapters::isolated<Compress>({.path = "/no/such/program", .words = {}}),
               spec::NotAsked);
}

/// Drops root privileges, because root may start any number of processes. Call it in a child
/// process.
template <class Body>
int status_of_nobody(Body&& body) {
  const pid_t child = fork();
  if (child == 0) {
    constexpr uid_t nobody = 65534;
    const bool is_nobody = geteuid() != 0 || (setgid(nobody) == 0 && setuid(nobody) == 0);
    _exit(is_nobody && access("/proc/self/exe", X_OK) == 0 ? body() : 126);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Limits the number of processes to `most`, so that no worker process can start. Returns the error
/// message of the kernel's run.
std::string refusal_with_processes(spec::Implementation<Compress>& kernel, rlim_t most) {
  const rlimit limit{most, most};
  setrlimit(RLIMIT_NPROC, &limit);
  Trial trial;
  try {
    kernel.run(trial.problem, trial.inputs, trial.outputs);
    ADD_FAILURE() << most << ": the run must not start";
  } catch (const spec::NotAsked& refusal) {
    return refusal.what();
  } catch (const std::exception& other) {
    ADD_FAILURE() << most << ": " << other.what();
  }
  return "";
}

/// A worker consists of three processes: the guard, the process that adopts orphaned processes, and
/// the kernel's process.
TEST(Isolated, FailureToReplaceAWorkerIsNotAKernelFault) {
  const int status = status_of_nobody([] {
    const auto kernel = watched("crashes");
    expect_fault(*kernel, Kind::crash, {"SIGABRT"});
    for (const rlim_t most : {3, 2, 1, 0})
      EXPECT_PRED2(has, refusal_with_processes(*kernel, most),
                   "cannot be started; this user may have " + std::to_string(most) + " processes");
    return testing::Test::HasFailure() ? 1 : 0;
  });
  if (status == 126) GTEST_SKIP() << "the user nobody may not execute this program";
  EXPECT_EQ(status, 0);
}

TEST(Isolated, MissingDescriptorsAreNotAKernelFault) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "sanitizers open descriptors of their own to read new objects";
#endif
  const auto kernel = watched("good");
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  const rlimit none{3, before.rlim_max};
  Trial trial;
  setrlimit(RLIMIT_NOFILE, &none);
  EXPECT_THROW(kernel->run(trial.problem, trial.inputs, trial.outputs), spec::NotAsked);
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_NO_THROW(kernel->run(trial.problem, trial.inputs, trial.outputs));
}

TEST(Serve, DoesNothingOutsideOfAWorker) {
  EXPECT_THROW(adapters::serve<Compress>([] { return worker_kernel("good"); }), std::runtime_error);
}

/// Waits until the worker and its child process have written to the file.
void wait_for(const std::string& file) {
  for (int k = 0; k < 1000 && !std::ifstream(file).good(); ++k)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

/// The tests run with and without the operating system's namespaces.
class Worker : public testing::TestWithParam<const char*> {
 protected:
  Worker() { setenv("ASSAY_NAMESPACES", GetParam(), 1); }
  ~Worker() override { unsetenv("ASSAY_NAMESPACES"); }
};
INSTANTIATE_TEST_SUITE_P(Namespaces, Worker, testing::Values("on", "off"));

TEST_P(Worker, DiesWithAJudgeThatIsKilledAndTakesItsChildrenAlong) {
  const hostile::Mark mark;
  const std::string file = testing::TempDir() + "worker_of_a_killed_judge" + GetParam();
  unlink(file.c_str());
  const pid_t judge = fork();
  if (judge == 0) {
    Trial trial;
    watched("hangs with a child " + file)->run(trial.problem, trial.inputs, trial.outputs);
    _exit(0);
  }
  wait_for(file);
  EXPECT_GE(mark.processes().size(), 3u);
  kill(judge, SIGKILL);
  waitpid(judge, nullptr, 0);
  EXPECT_TRUE(mark.vanishes(std::chrono::seconds(5)));
}

TEST_P(Worker, IsKilledAtTheLimitWithItsChildren) {
  const hostile::Mark mark;
  const std::string file = testing::TempDir() + "worker_at_its_limit" + GetParam();
  unlink(file.c_str());
  expect_fault("hangs with a child " + file, Kind::timeout, {"time limit of 0.7 s"},
               {.seconds = 0.7});
  EXPECT_TRUE(std::ifstream(file).good());
  EXPECT_TRUE(mark.vanishes());
}

}  // namespace
}  // namespace assay::tests

int main(int argc, char** argv) {
  if (argc == 3 && std::string(argv[1]) == "worker") {
    assay::adapters::serve<assay::tests::Compress>(
        [manner = std::string(argv[2])] { return assay::tests::worker_kernel(manner); });
    return 0;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
