// Tests plug-ins that attack the process that loads them, in every way that a library can.
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include "assay/adapters/fenced.hpp"
#include "assay/adapters/isolated.hpp"
#include "assay/adapters/plugin.hpp"
#include "assay/adapters/serve.hpp"
#include "build_paths.hpp"
#include "sweep_of_two.hpp"

namespace assay::hostile {
namespace {

constexpr Verdict crash = Verdict::crash, timeout = Verdict::timeout,
                  structural = Verdict::nonconformant_structural, conforms = Verdict::conforms,
                  refused = Verdict::rejected_wrongly;

std::unique_ptr<spec::Implementation<Op>> opened(double seconds) {
  return adapters::isolated<Op>({.words = {"worker"}}, {.seconds = seconds, .bytes = 200 << 20});
}

const std::vector<Expected> deaths = {
    {"reads address zero", crash, "SIGSEGV"},
    {"aborts", crash, "SIGABRT"},
    {"executes no instruction", crash, "SIGILL"},
    {"divides by zero", crash, "SIGFPE"},
    {"reads after a file", crash, "SIGBUS"},
    {"recurses without end", crash, "SIGSEGV"},
    {"terminates", crash, "SIGABRT"},
    {"frees twice", crash, "SIGABRT"},
    {"kills itself", crash, "SIGKILL"},
    {"kills its group", crash, "SIGKILL"},
    {"asks itself to end", crash, "SIGTERM"},
    {"breaks a pipe", crash, "SIGPIPE"},
    {"sets a timer", crash, "SIGALRM"},
    {"exits with 0", crash, "exit code 0 instead of answering"},
    {"exits with 3", crash, "exit code 3 instead of answering"},
    {"exits at once with 0", crash, "exit code 0"},
    {"exits quickly with 0", crash, "exit code 0"},
    {"ends its thread", crash, "SIGABRT"},
    {"ends its only thread by a call", crash, "exit code 0"},
    {"throws", crash, "not my day"},
    {"throws a number", crash, "not a std::exception"},
    {"throws from a destructor", crash, "SIGABRT"},
    {"is /bin/true", crash, "exit code 0"},
    {"is a program that stays", crash, "closed its connection"},
    {"ignores its crash", crash, "SIGSEGV"},
    {"crashes while a child holds its connection", crash, "SIGSEGV"},
    {"ends while a child holds its connection", crash, "exit code 0"},
    {"crashes among fifty children", crash, "SIGSEGV"},
    {"crashes after its call", crash, "SIGSEGV"},
    {"crashes when its call ends", crash, "SIGSEGV"},
};

const std::vector<Expected> hangs = {
    {"hangs", timeout, "time limit of 1 s", short_time},
    {"spins", timeout, "time limit of 1 s", short_time},
    {"hangs and ignores signals", timeout, "time limit of 1 s", short_time},
    {"hangs while it exits", timeout, "time limit of 1 s", short_time},
    {"stops itself", timeout, "time limit of 1 s", short_time},
    {"ends its first thread and stays", timeout, "time limit of 1 s", short_time},
    {"prints without end", timeout, "aaaa", short_time},
    {"waits for itself", timeout, "time limit of 1 s", short_time},
    {"hangs when asked for support", timeout, "time limit of 1 s", short_time},
    {"hangs when asked for numerics", timeout, "time limit of 1 s", short_time},
    {"hangs when it checks", timeout, "time limit of 1 s", short_time},
};

const std::vector<Expected> connections = {
    {"closes every descriptor", crash, "exit code 0"},
    {"closes every descriptor and hangs", crash, "closed its connection"},
    {"replaces every descriptor", crash, "exit code 0"},
    {"shuts its connection down", crash, "closed its connection"},
    {"writes letters into its connection", crash, "sent an invalid answer"},
    {"writes a part of a message and hangs", timeout, "time limit of 1 s", short_time},
    {"announces a message and hangs", timeout, "time limit of 1 s", short_time},
    {"announces an endless message", crash, "invalid answer: a message of more than 16 MiB"},
    {"announces a message that hardly comes", timeout, "time limit of 1 s", short_time},
    {"answers nothing", crash, "invalid answer: it ends early"},
    {"answers a choice that is none", crash,
     "invalid answer: an enumerator has an undefined value"},
    {"answers a list without end", crash, "values should follow, but the message ends too early"},
    {"answers a text without end", crash, "values should follow, but the message ends too early"},
    {"answers too much", crash, "bytes are left after the answer"},
    {"spreads descriptors", crash, "sent an invalid answer"},
    // The kernel sends data after its call. The judge reports an unexpected answer if the data
    // arrive before the next query, and an invalid answer if they arrive later, so only common
    // words are expected.
    {"writes after its call", crash, "the worker"},
};

/// Actions that may happen late, when the same case already runs a second time. Therefore the text
/// of the finding may differ.
const std::vector<Expected> afterthoughts = {
    {"crashes in a while", crash, "SIGSEGV"},
    {"exits in a while", crash, "exit code 3"},
    {"writes in a while", crash, "the worker"},
    {"closes every descriptor in a while", crash, "exit code 0"},
    {"shuts its connection down in a while", crash, "the worker"},
    {"has a child write in a while", crash, "the worker"},
    {"is alarmed in a while", structural, "left 1 more timer than before"},
    {"crashes after its call", crash, "SIGSEGV"},
    {"writes after its call", crash, "the worker"},
};

const std::vector<Expected> thefts = {
    {"takes memory without end", crash, "the limit is 200 MiB"},
    {"takes memory in children", crash, "the limit is 200 MiB"},
    {"takes shared memory", crash, "the limit is 200 MiB"},
    {"takes shared memory in pieces", crash, "the limit is 200 MiB"},
    {"takes a file in memory that nobody maps", crash, "the limit is"},
    {"takes a file in memory that hides itself", crash, "the limit is"},
    {"takes memory in the tensors' file", conforms, ""},
    {"takes a file that has lost its name", crash, "the limit is 200 MiB"},
    {"takes System V memory", crash, "the limit is 200 MiB"},
    {"takes more than there is", crash, "no memory is left"},
};

const std::vector<Expected> litter = {
    {"leaves a child", conforms, ""},
    {"leaves a daemon", conforms, ""},
    {"leaves a daemon and hangs", timeout, "time limit of 1 s", short_time},
    {"leaves a daemon and crashes", crash, "SIGSEGV"},
    {"leaves a thread", conforms, ""},
    {"leaves temporary files", conforms, ""},
    {"moves elsewhere", structural, "left the working folder at '/', where it was '"},
    {"lets nobody write files", structural, "left RLIMIT_FSIZE at 0"},
    {"empties its environment", structural, "unset, where it was '"},
    {"cuts the tensors", conforms, ""},
    {"stops its parent", conforms, ""},
};

const std::vector<Expected> legacies = {
    {"lowers its descriptors", structural, "left RLIMIT_NOFILE at 5, where it was "},
    {"lowers its address space", structural, "left RLIMIT_AS at 1048576, where it was unlimited"},
    {"sets its umask", structural, "left the umask at 777, where it was 0"},
    {"leaks descriptors", structural, "left 300 descriptors open that were not open before"},
    {"leaks descriptors and throws", crash, "not my day; the implementation left 300 descriptors"},
    {"keeps some descriptors", conforms, ""},
    {"sets a locale", structural, "left the locale at 'C.UTF-8', where it was 'C'"},
    {"blocks a signal", structural, "left SIGUSR1 blocked"},
    {"leaves a timer", structural, "left 1 more timer than before"},
    {"changes its environment", structural, "left the variable 'HOSTILE' at 'no more'"},
    {"adds to its environment", conforms, ""},
};

const std::vector<Expected> arithmetics = {
    {"rounds upward", structural, "left the rounding mode upward"},
    {"rounds downward", structural, "left the rounding mode downward"},
    {"rounds toward zero", structural, "left the rounding mode toward zero"},
    {"flushes results", structural, "flushed to zero"},
    {"rounds upward when asked for numerics", structural, "left the rounding mode upward"},
    {"flushes subnormal numbers from its loading on", conforms, ""},
#if defined(__x86_64__)  // other processors may lack these
    {"traps", structural, "floating-point traps on"},
    {"flushes operands", structural, "subnormal operands taken as zero"},
    {"computes in short registers", structural, "the control word of the x87"},
#endif
};

const std::vector<Expected> answers = {
    {"refuses without a reason", refused, "no reason given"},
    {"refuses with a reason that is nowhere", crash, "SIGSEGV"},
    {"refuses with a status of its own", refused, "-12345"},
    {"computes nothing", structural, "dq: storage element"},
    {"spoils an output", structural, "is not finite"},
    {"writes after an output", structural, "1 byte after the storage of dq"},
    {"writes before an output", structural, "1 byte before the storage of dq"},
    {"writes far after an output", crash, "SIGSEGV"},
    {"takes an output away", conforms, ""},
    {"changes an input", structural, "modified the input key in 1 byte"},
    {"makes holes in the tensors", structural, "after the storage of query"},
    {"crashes when asked for support", crash, "SIGSEGV"},
    {"offers a reason that is nowhere", crash, "SIGSEGV"},
    {"exits when asked for support", crash, "exit code 0"},
    {"crashes when asked for numerics", crash, "SIGSEGV"},
    {"throws when asked for numerics", crash, "not a std::exception"},
    {"declares nonsense", crash, "numerics threw"},
    {"declares numerics that are nowhere", crash, "SIGSEGV"},
    {"crashes when it checks", crash, "SIGSEGV"},
};

/// Actions that can only be detected or prevented with Linux namespaces. On a machine without
/// namespaces these tests are skipped.
const std::vector<Expected> of_namespaces = {
    {"takes shared memory by name", crash, "the limit is 200 MiB"},
    {"leaves shared memory by name", conforms, ""},
    {"leaves System V memory", conforms, ""},
    {"kills its parent", conforms, ""},
    // The result depends on the user: root without capabilities cannot map its id into a user
    // namespace, but other users can.
    {"takes a file system in memory", geteuid() == 0 ? conforms : crash,
     geteuid() == 0 ? "" : "the limit is 200 MiB"},
};

/// Actions that need the rights of root. The judge must detect or prevent them even if root runs
/// it.
const std::vector<Expected> of_root = {
    {"takes memory in pipes", crash, "the limit is 200 MiB"},
    {"mounts a file system", conforms, ""},
    {"uncovers /proc and reads the memory of its judge", conforms, ""},
    {"has a program of root read the memory of its judge", conforms, ""},
    {"changes settings of the system", conforms, ""},
};

/// Actions that must fail on every machine: reading the judge's memory, and finding out that the
/// kernel is judged.
const std::vector<Expected> looks = {
    {"reads the memory of its judge", conforms, ""},
    {"looks whether it is judged", conforms, ""},
};

class Plugin : public testing::TestWithParam<Expected> {};

void expect_of_plugin(const Expected& expected) {
  const Hostilities hostilities(expected.manner);
  expect_named_of(opened, expected);
}

TEST_P(Plugin, IsNamedAndTheNextCaseConforms) { expect_of_plugin(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Dies, Plugin, testing::ValuesIn(deaths), test_name);
INSTANTIATE_TEST_SUITE_P(Hangs, Plugin, testing::ValuesIn(hangs), test_name);
INSTANTIATE_TEST_SUITE_P(Interferes, Plugin, testing::ValuesIn(connections), test_name);
INSTANTIATE_TEST_SUITE_P(Takes, Plugin, testing::ValuesIn(thefts), test_name);
INSTANTIATE_TEST_SUITE_P(Leaves, Plugin, testing::ValuesIn(litter), test_name);
INSTANTIATE_TEST_SUITE_P(Looks, Plugin, testing::ValuesIn(looks), test_name);
INSTANTIATE_TEST_SUITE_P(Changes, Plugin, testing::ValuesIn(legacies), test_name);
INSTANTIATE_TEST_SUITE_P(Computes, Plugin, testing::ValuesIn(arithmetics), test_name);
INSTANTIATE_TEST_SUITE_P(Answers, Plugin, testing::ValuesIn(answers), test_name);

/// If a worker process has no free file descriptor for the tensors of the next call, the judge
/// replaces the worker and repeats the call.
TEST(PluginThatPoisonsItsWorker, DelayedPoisonIsNotAFaultOfTheNextCase) {
  const Hostilities hostilities("lowers its descriptors much later");
  const auto kernel = opened(15);
  const auto cases = two_cases();
  conformance::judge_case(cases[0], *kernel);
  std::this_thread::sleep_for(std::chrono::seconds(1));
  const CaseReport report = conformance::judge_case(cases[1], *kernel);
  EXPECT_EQ(spec::to_string(report.verdict.value()), "conforms") << findings(report);
}

/// Runs a single case, so that no later call can detect an action that happens after the answer.
class PluginForOne : public testing::TestWithParam<Expected> {};

TEST_P(PluginForOne, IsNamed) {
  const Hostilities hostilities(GetParam().manner);
  expect_named_alone(*opened(GetParam().seconds), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Regrets, PluginForOne, testing::ValuesIn(afterthoughts), test_name);

class PluginInNamespaces : public testing::TestWithParam<Expected> {};

/// Returns whether a child process may create namespaces with its own folder of shared memory.
bool namespaces_are_granted() {
  const pid_t child = fork();
  if (child == 0) {
    const int wanted = CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWNS;
    const bool granted = (unshare(wanted) == 0 || unshare(wanted | CLONE_NEWUSER) == 0) &&
                         mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) == 0 &&
                         mount("tmpfs", "/dev/shm", "tmpfs", 0, nullptr) == 0;
    _exit(granted ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0;
}

TEST_P(PluginInNamespaces, IsNamedAndTheNextCaseConforms) {
  if (!namespaces_are_granted()) GTEST_SKIP() << "the system grants no namespaces";
  expect_of_plugin(GetParam());
}
INSTANTIATE_TEST_SUITE_P(Plugin, PluginInNamespaces, testing::ValuesIn(of_namespaces), test_name);

class PluginOfRoot : public testing::TestWithParam<Expected> {};

TEST_P(PluginOfRoot, IsNamedAndTheNextCaseConforms) {
  if (geteuid() != 0 || !namespaces_are_granted()) GTEST_SKIP() << "root may not mount here";
  expect_of_plugin(GetParam());
}
INSTANTIATE_TEST_SUITE_P(Takes, PluginOfRoot, testing::ValuesIn(of_root), test_name);

/// Turns namespaces off. Orphaned processes are then adopted by the guardian (the parent process of
/// a worker).
class PluginWithoutNamespaces : public testing::TestWithParam<Expected> {};

TEST_P(PluginWithoutNamespaces, IsNamedAndTheNextCaseConforms) {
  setenv("ASSAY_NAMESPACES", "off", 1);
  expect_of_plugin(GetParam());
  unsetenv("ASSAY_NAMESPACES");
}
INSTANTIATE_TEST_SUITE_P(Leaves, PluginWithoutNamespaces, testing::ValuesIn(litter), test_name);
INSTANTIATE_TEST_SUITE_P(Looks, PluginWithoutNamespaces, testing::ValuesIn(looks), test_name);
INSTANTIATE_TEST_SUITE_P(
    Dies, PluginWithoutNamespaces,
    testing::Values(Expected{"reads address zero", crash, "SIGSEGV"},
                    Expected{"crashes while a child holds its connection", crash, "SIGSEGV"},
                    Expected{"ends while a child holds its connection", crash, "exit code 0"},
                    Expected{"crashes among fifty children", crash, "SIGSEGV"},
                    Expected{"kills its parent", crash, "SIGKILL"}),
    test_name);

/// If a plug-in reports unusual metrics, both cases must get the expected verdict.
TEST(PluginMetrics, AreThoseOfThePlugin) {
  for (const auto& [manner, verdict, words, seconds] :
       {Expected{"measures without end", crash, ""},
        Expected{"measures something without a name", crash, "metrics"},
        Expected{"measures less than nothing", conforms, ""}}) {
    const Hostilities hostilities(manner);
    const auto reports = reports_of(*opened(15));
    ASSERT_EQ(reports.size(), 2u);
    for (const CaseReport& report : reports)
      EXPECT_EQ(spec::to_string(report.verdict.value()), spec::to_string(verdict))
          << findings(report);
  }
}

/// If a plug-in cannot be opened, the command must end with a message.
class PluginAtItsStart : public testing::TestWithParam<Expected> {};

TEST_P(PluginAtItsStart, IsRefusedWithAReason) {
  const Hostilities hostilities(GetParam().manner);
  try {
    opened(GetParam().seconds);
    FAIL() << "the plug-in was opened";
  } catch (const std::exception& reason) {
    EXPECT_NE(std::string(reason.what()).find(GetParam().words), std::string::npos)
        << reason.what();
  }
}
INSTANTIATE_TEST_SUITE_P(
    Plugin, PluginAtItsStart,
    testing::Values(Expected{"crashes when loaded", crash, "SIGSEGV"},
                    Expected{"exits when loaded", crash, "exit code 0 instead of answering"},
                    Expected{"hangs when loaded", crash, "time limit of 1 s", short_time},
                    Expected{"throws when loaded", crash, "SIGABRT"},
                    Expected{"crashes when described", crash, "SIGABRT"},
                    Expected{"describes nothing", crash, "gave a null pointer"},
                    Expected{"describes itself nowhere", crash, "SIGSEGV"},
                    Expected{"offers operators that are nowhere", crash, "SIGSEGV"},
                    Expected{"has no name", crash, "lacks 'name'"},
                    Expected{"has a name that is nowhere", crash, "SIGSEGV"},
                    Expected{"has another version", crash, "ABI version 7"},
                    Expected{"has no function", crash, "lacks 'run'"}),
    test_name);

}  // namespace
}  // namespace assay::hostile

int main(int argc, char** argv) {
  using namespace assay;
  if (argc > 1 && std::string(argv[1]) == "worker") {
    adapters::serve<hostile::Op>([] {
      return adapters::fenced<hostile::Op>(
          [] { return adapters::open_plugin<hostile::Op>(tests::hostile_plugin()); });
    });
    return 0;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
