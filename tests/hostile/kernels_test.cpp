// Tests hostile kernels that are written in C++ and registered in their own program. By default
// each kernel runs in a separate process.
#include <fcntl.h>
#include <sys/wait.h>

#include <cfenv>
#include <csignal>
#include <thread>

#include "acts.hpp"
#include "assay/adapters/plugin.hpp"
#include "assay/cli/main.hpp"
#include "build_paths.hpp"
#include "flags/choose.hpp"
#include "process/descriptor.hpp"
#include "process/launch.hpp"
#include "sweep_of_two.hpp"

namespace assay::hostile {
namespace {

constexpr Verdict crash = Verdict::crash, timeout = Verdict::timeout,
                  structural = Verdict::nonconformant_structural, conforms = Verdict::conforms;

/// The naive example kernel. In calls with two batches it performs the hostile action in the
/// environment variable HOSTILE.
class Kernel final : public spec::Implementation<Op> {
 public:
  std::string name() const override {
    if (manner_ == "throws for a name") throw 5;
    return "hostile";
  }
  bool checks_arguments() const override { return manner_ == "throws when it checks"; }
  void check(const spec::Call<Op>& call) const override {
    if (checks_arguments() && call.parameters.query.shape[0] == 2)
      throw std::domain_error("not today");
  }
  std::optional<std::string> unsupported(const spec::Call<Op>& call) const override {
    if (manner_ == "throws when asked for support" && call.parameters.query.shape[0] == 2)
      throw std::domain_error("not today");
    return healthy_->unsupported(call);
  }
  spec::Numerics numerics(const Op::Problem& problem) const override {
    if (problem.batch == 2 && manner_ == "throws when asked for numerics")
      throw std::domain_error("not today");
    if (problem.batch == 2 && manner_ == "crashes when asked for numerics") std::abort();
    return healthy_->numerics(problem);
  }
  std::vector<spec::Metric> metrics() const override {
    if (manner_ == "throws when asked for metrics") throw std::domain_error("not today");
    return {};
  }
  void run(const Op::Problem& problem, const Op::Inputs& inputs, Op::Outputs& outputs) override {
    if (problem.batch == 2) {
      act(manner_);
      if (manner_ == "refuses what is legal")
        throw spec::Rejected(spec::Status::param_invalid, "not today");
      if (manner_ == "writes nothing") return;
      if (manner_ == "writes next to an output") outputs.dq.bytes.end()[0] ^= std::byte{1};
      if (manner_ == "changes an input")
        const_cast<std::byte*>(inputs.key.bytes.data())[0] ^= std::byte{1};
    }
    healthy_->run(problem, inputs, outputs);
    if (problem.batch == 2 && manner_ == "drops an output") outputs.dv = spec::Tensor();
    if (problem.batch == 2 && manner_ == "turns an output") outputs.dk.strides.back() = -1;
    if (problem.batch == 2 && manner_ == "shifts an output") outputs.dk.offset = far;
    if (problem.batch == 2 && manner_ == "stretches an output") outputs.dk.shape.front() = far;
    if (problem.batch == 2 && manner_ == "retypes an output") outputs.dk.dtype = spec::DType::bf16;
  }

 private:
  static constexpr std::int64_t far = std::int64_t{1} << 40;  // an address that is not mapped
  std::string manner_ = manner();
  std::unique_ptr<spec::Implementation<Op>> healthy_ =
      adapters::open_plugin<Op>(tests::naive_plugin());
};

cli::Registry registry() {
  cli::Registry registry;
  registry.add<Op>({.name = "hostile", .summary = "naive, mostly", .make = [] {
                      return std::make_unique<Kernel>();
                    }});
  return registry;
}

const std::vector<Expected> manners = {
    {"reads address zero", crash, "SIGSEGV"},
    {"aborts", crash, "SIGABRT"},
    {"divides by zero", crash, "SIGFPE"},
    {"recurses without end", crash, "SIGSEGV"},
    {"frees twice", crash, "SIGABRT"},
    {"terminates", crash, "SIGABRT"},
    {"exits with 0", crash, "exit code 0"},
    {"exits at once with 0", crash, "exit code 0"},
    {"exits quickly with 0", crash, "exit code 0"},
    {"ends its thread", crash, "SIGABRT"},
    {"throws", crash, "not my day"},
    {"throws a number", crash, "not a std::exception"},
    {"hangs", timeout, "time limit of 1 s", short_time},
    {"spins", timeout, "time limit of 1 s", short_time},
    {"hangs while it exits", timeout, "time limit of 1 s", short_time},
    {"takes memory without end", crash, "the limit is 200 MiB"},
    {"crashes after its call", crash, "SIGSEGV"},
    {"closes every descriptor", crash, "exit code 0"},
    {"leaves a daemon", conforms, ""},
    {"leaves a daemon and crashes", crash, "SIGSEGV"},
    {"rounds upward", structural, "left the rounding mode upward"},
    {"flushes results", structural, "flushed to zero"},
#if defined(__x86_64__)  // other processors may not have them
    {"traps", structural, "floating-point traps on"},
#endif
    {"throws when asked for support", crash, "not today"},
    {"throws when asked for numerics", crash, "not today"},
    {"crashes when asked for numerics", crash, "SIGABRT"},
    {"writes next to an output", structural, "1 byte after the storage of dq"},
    {"changes an input", structural, "modified the input key"},
    {"drops an output", structural, "dv"},
    {"throws when it checks", crash, "phase 1 threw: not today"},
    {"refuses what is legal", Verdict::rejected_wrongly, "phase 2 refused a legal call"},
    {"writes nothing", structural, "was never written"},
    {"turns an output", structural, "the output dk was replaced"},
    {"shifts an output", structural, "the output dk was replaced"},
    {"stretches an output", structural, "the output dk was replaced"},
    {"retypes an output", structural, "the output dk was replaced"},
};

class KernelInCpp : public testing::TestWithParam<Expected> {};

TEST_P(KernelInCpp, IsNamedAndTheNextCaseConforms) {
  const Expected& expected = GetParam();
  const Hostilities hostilities(expected.manner);
  const cli::Registry kernels = registry();
  const auto open = [&](double seconds) {
    return cli::make_implementation<Op>(
        kernels, {.memory_limit = 200 * (std::int64_t{1} << 20), .time_limit = seconds});
  };
  expect_named_of(open, expected);
}
INSTANTIATE_TEST_SUITE_P(Isolated, KernelInCpp, testing::ValuesIn(manners), test_name);

/// If the kernel runs in the judge's process, hostile actions that do not end the process must be
/// detected, too. Afterwards the floating-point mode of the process must be the same as before.
class KernelInProcess : public testing::TestWithParam<Expected> {};

TEST_P(KernelInProcess, IsNamedAndTheNextCaseConforms) {
  const Hostilities hostilities(GetParam().manner);
  const cli::Registry kernels = registry();
  const auto kernel = cli::make_implementation<Op>(kernels, {.in_process = true});
  expect_named(reports_of(*kernel), GetParam());
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
}
INSTANTIATE_TEST_SUITE_P(
    Here, KernelInProcess,
    testing::Values(Expected{"throws", crash, "not my day"},
                    Expected{"throws a number", crash, "not a std::exception"},
                    Expected{"throws when asked for support", crash, "not today"},
                    Expected{"throws when asked for numerics", crash, "numerics threw"},
                    Expected{"takes more than there is", crash, "phase 2 threw"},
                    Expected{"rounds upward", structural, "left the rounding mode upward"},
                    Expected{"rounds toward zero", structural, "the rounding mode toward zero"},
                    Expected{"flushes results", structural, "flushed to zero"},
                    Expected{"changes an input", structural, "the input key was modified"},
                    Expected{"drops an output", structural, "dv was replaced"},
                    Expected{"throws when it checks", crash, "phase 1 threw: not today"},
                    Expected{"refuses what is legal", Verdict::rejected_wrongly,
                             "phase 2 refused a legal call"},
                    Expected{"writes nothing", structural, "was never written"},
                    Expected{"turns an output", structural, "the output dk was replaced"},
                    Expected{"shifts an output", structural, "the output dk was replaced"},
                    Expected{"stretches an output", structural, "the output dk was replaced"},
                    Expected{"retypes an output", structural, "the output dk was replaced"},
                    Expected{"moves elsewhere", conforms, ""}),
    test_name);

TEST(KernelThatMeasures, ThrowsInEveryCase) {
  const Hostilities hostilities("throws when asked for metrics");
  const cli::Registry kernels = registry();
  for (const CaseReport& report : reports_of(*cli::make_implementation<Op>(kernels, {}))) {
    EXPECT_EQ(spec::to_string(report.verdict.value()), "crash");
    EXPECT_NE(findings(report).find("not today"), std::string::npos) << findings(report);
  }
}

/// The exit code and the text on stderr of a finished run of this program.
struct Ended {
  int code = -1;
  std::string err;
};

class Started {
 public:
  explicit Started(std::vector<std::string> words) : errors_(std::move(pipe_.first)) {
    adapters::Launch launch;
    launch.open("/dev/null", O_WRONLY, STDOUT_FILENO);
    launch.connect(pipe_.second, STDERR_FILENO);
    words.insert(words.begin(), "kernels");
    pid_ = launch.start("/proc/self/exe", words, adapters::own_environment());
    pipe_.second.close();
  }
  void signal(int number) const { kill(pid_, number); }
  Ended wait() const {
    Ended ended;
    char part[4096];
    for (ssize_t count = 0; (count = read(errors_.number(), part, sizeof part)) > 0;)
      ended.err.append(part, static_cast<std::size_t>(count));
    int status = 0;
    waitpid(pid_, &status, 0);
    ended.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return ended;
  }

 private:
  adapters::Ends pipe_ = adapters::make_pipe();
  adapters::Descriptor errors_;
  pid_t pid_ = -1;
};

const std::vector<std::string> hostile_case = {
    "run", "flash_attention_score_grad", "--layout=BSND", "--dtype=fp32", "--seq_q=5", "--batch=2"};

Ended run(const std::string& manner, const std::vector<std::string>& flags) {
  const Hostilities hostilities(manner);
  std::vector<std::string> words = hostile_case;
  words.insert(words.end(), flags.begin(), flags.end());
  return Started(words).wait();
}

TEST(InProcess, ExitIsNotAVerdict) {
  for (const char* const manner : {"exits with 0", "exits quickly with 0"}) {
    const Ended ended = run(manner, {"--in-process"});
    EXPECT_EQ(ended.code, 3) << manner;
    EXPECT_NE(ended.err.find("ended this process"), std::string::npos) << ended.err;
  }
}

TEST(InProcess, IsPrintedOnce) {
  const Ended aloud = run("", {"--in-process"});
  EXPECT_EQ(aloud.code, 0) << aloud.err;
  EXPECT_EQ(aloud.err.find("--in-process"), aloud.err.rfind("--in-process"));
  EXPECT_NE(aloud.err.find("the judge's own process"), std::string::npos) << aloud.err;
  EXPECT_EQ(run("", {}).err, "");
  EXPECT_EQ(run("", {"--in-process", "--isolated"}).code, 2);
  EXPECT_EQ(run("", {"--in-process", "--time-limit=1s"}).code, 2);
}

TEST(Isolated, AnExitIsTheVerdictOfItsCase) {
  EXPECT_EQ(run("exits with 0", {}).code, 1);
  EXPECT_EQ(run("throws for a name", {}).code, 2);
}

/// The judge receives a signal while its kernel hangs. It must stop after this case, without any
/// remaining process.
TEST(Isolated, SignalIsHandledWhileAKernelHangs) {
  const Hostilities hostilities("leaves a daemon and hangs");
  const Started sweep({"sweep", "flash_attention_score_grad", "--random=0", "--time-limit=3s",
                       "--only=--layout=BSND --dtype=fp32 --batch=2", "--shrink=0"});
  // The first call hangs. At this time five processes exist: the judge, the guardian, the init
  // process of the namespace, the worker and the daemon.
  while (hostilities.mark().processes().size() < 5)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  sweep.signal(SIGTERM);
  const Ended ended = sweep.wait();
  EXPECT_EQ(ended.code, 3) << ended.err;
  EXPECT_NE(ended.err.find("stopped after"), std::string::npos) << ended.err;
}

}  // namespace
}  // namespace assay::hostile

int main(int argc, char** argv) {
  const std::string first = argc > 1 ? argv[1] : "";
  if (first == "worker" || first == "run" || first == "sweep")
    return assay::cli::main(argc, argv, assay::hostile::registry());
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
