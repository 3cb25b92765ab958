#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "assay/fixtures/file.hpp"
#include "assay/optimized/flash_attention_score_grad.hpp"
#include "build_paths.hpp"
#include "session.hpp"

namespace assay::tests {
namespace {

using Json = nlohmann::json;

std::string plugin(const std::string& name) {
  return "--implementation=plugin:" + tests::plugin_folder() + "/" + name + "_plugin.so";
}

/// Selects quick cases that are judged numerically and that the naive example kernel supports.
const char* const few = "--only=--layout=BSND --dtype=fp32 --batch=2";

/// Returns a registry of kernels that contains only the tiled kernel.
cli::Registry registry() {
  cli::Registry registry;
  registry.add<Op>({.name = "optimized-a2",
                    .summary = "tiled",
                    .make = [] { return optimized::flash_attention_score_grad(device::a2()); },
                    .in_process = true});
  return registry;
}

Answer swept(std::vector<std::string> flags) {
  flags.insert(flags.begin(), {"sweep", std::string(Op::name)});
  return answer(registry(), std::move(flags));
}

/// Runs a sweep with these flags and returns the reports of its cases.
Json reports(std::vector<std::string> flags) {
  const Folder folder;
  flags.insert(flags.end(), {"--report", folder / "r.json"});
  const Answer result = swept(flags);
  EXPECT_NE(result.code, 2) << result.err;
  return Json::parse(text_of(folder / "r.json"))["cases"];
}

std::map<std::string, int> verdicts(const Json& cases) {
  std::map<std::string, int> count;
  for (const Json& one : cases) ++count[one["verdict"].get<std::string>()];
  return count;
}

/// Expects at least one case with this verdict, and that each such case has a finding with the text
/// `part`.
void expect_found(const Json& cases, const std::string& verdict, const std::string& part) {
  int found = 0;
  for (const Json& one : cases) {
    if (one["verdict"] != verdict) continue;
    ++found;
    EXPECT_PRED2(has, one["findings"].dump(), part) << one["command_line"];
  }
  EXPECT_GT(found, 0) << verdict << " " << cases.dump().substr(0, 2000);
}

TEST(Isolation, TheNaiveExampleConforms) {
  const auto count = verdicts(reports({plugin("naive"), few}));
  for (const auto& [verdict, cases] : count)
    EXPECT_TRUE(verdict == "conforms" || verdict == "conforms_weak" || verdict == "not_applicable")
        << cases << " " << verdict;
  EXPECT_GE(count.at("conforms"), 5);
}

TEST(Isolation, EveryCrashIsNamedAndTheOthersAreJudged) {
  const Json cases = reports({plugin("crashing"), few, "--shrink=0"});
  expect_found(cases, "crash", "SIGSEGV");
  EXPECT_GT(verdicts(cases)["conforms"], 0);
  for (const Json& one : cases)
    EXPECT_FALSE(one["verdict"] == "crash" && one["value_case"] == true)
        << "a crash must not count as a numerically judged case";
  EXPECT_EQ(cases.size(), reports({plugin("naive"), few}).size());
}

/// Judges one case and returns its report. Without a hostile action the naive example kernel
/// conforms in this case.
Json judged(const std::string& manner, const std::vector<std::string>& flags = {}) {
  std::vector<std::string> line =
      words("run flash_attention_score_grad --layout=BSND --dtype=fp32 --seq_q=5 --json");
  line.push_back(plugin(manner));
  line.insert(line.end(), flags.begin(), flags.end());
  const Answer result = answer(registry(), line);
  EXPECT_NE(result.code, 2) << result.err;
  return Json::array({Json::parse(result.out)});
}

TEST(Isolation, MemoryViolationsOfAKernelAreFindings) {
  EXPECT_EQ(judged("naive")[0]["verdict"], "conforms");
  expect_found(judged("overflowing"), "nonconformant_structural",
               "1 byte after the storage of dq, at a distance of 1");
  expect_found(judged("scribbling"), "nonconformant_structural",
               "modified the input key in 1 byte");
}

TEST(Isolation, AHangIsATimeout) {
  EXPECT_EQ(judged("hanging")[0]["verdict"], "conforms");
  expect_found(judged("hanging", {"--batch=2", "--time-limit=0.5s"}), "timeout",
               "time limit of 0.5 s");
}

TEST(Isolation, MissingAndMeaninglessOutputsAreFindings) {
  expect_found(judged("omitting"), "nonconformant_structural", "dv: storage element");
  expect_found(judged("not_a_number"), "nonconformant_structural", "is not finite");
}

TEST(Isolation, MemoryWithoutEndAndExitAreCrashes) {
  expect_found(judged("gluttonous", {"--memory-limit=300MiB"}), "crash", "the limit is 300 MiB");
  expect_found(judged("exiting"), "crash", "exit code 3");
}

/// The judge may transfer only the memory pages that are read or written, so huge views take little
/// memory.
TEST(Isolation, ViewsOfMoreElementsThan31BitsCountTakeLittleMemory) {
  const std::vector<std::string> far = {"--batch=2", "--inputs=far", "--outputs=far"};
  for (const char* kernel : {"naive", "optimized"})
    EXPECT_EQ(judged(kernel, far)[0]["verdict"], "conforms") << judged(kernel, far);
  expect_found(judged("scribbling", far), "nonconformant_structural",
               "modified the input key in 1 byte");
  for (const int whose : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage = {};
    ASSERT_EQ(getrusage(whose, &usage), 0);
    EXPECT_LT(usage.ru_maxrss, 1 << 20);  // 1 GiB, in KiB; one tensor spans eight
  }
}

/// Returns the part of a report that must be the same in whichever process the kernel runs.
Json outcome(Json one) {
  for (const char* own : {"implementation", "seconds_implementation", "seconds_total"})
    one.erase(own);
  return one;
}

TEST(Isolation, InProcessIsolatedAndPlugInAgreeInEveryBit) {
  std::map<std::string, Json> cases;
  for (const std::string& how : {std::string("--implementation=optimized-a2"),
                                 std::string("--isolated"), plugin("optimized")}) {
    std::vector<std::string> flags = {how, "--only=--layout=SBH --dtype=bf16 --batch=2",
                                      "--random=0"};
    if (how == "--isolated") flags.emplace_back("--implementation=optimized-a2");
    cases[how] = reports(flags);
    ASSERT_GT(cases[how].size(), 10u);
  }
  const Json& here = cases["--implementation=optimized-a2"];
  for (const auto& [how, there] : cases) {
    ASSERT_EQ(there.size(), here.size()) << how;
    for (std::size_t k = 0; k < here.size(); ++k)
      EXPECT_EQ(outcome(there[k]), outcome(here[k])) << how;
  }
}

TEST(Isolation, DigestsOfOutputsAreTheSame) {
  const std::vector<std::string> line =
      words("run flash_attention_score_grad --dtype=bf16 --seq_q=37 --seq_kv=45 --json");
  std::vector<Json> digests;
  for (const std::vector<std::string>& how :
       {std::vector<std::string>{"--implementation=optimized-a2"},
        {"--implementation=optimized-a2", "--isolated"},
        {plugin("optimized")}}) {
    auto all = line;
    all.insert(all.end(), how.begin(), how.end());
    const Answer result = answer(registry(), all);
    ASSERT_EQ(result.code, 0) << result.err << result.out;
    digests.push_back(Json::parse(result.out)["digests"]);
  }
  ASSERT_EQ(digests[0].size(), 3u);
  EXPECT_EQ(digests[0], digests[1]);
  EXPECT_EQ(digests[0], digests[2]);
}

void expect_usage(const Answer& result, const std::vector<std::string>& parts) {
  EXPECT_EQ(result.code, 2) << result.out;
  for (const std::string& part : parts) EXPECT_PRED2(has, result.err, part);
}

TEST(Usage, ImplementationThatCannotBeOpenedIsNamed) {
  const auto run = [](std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"run", std::string(Op::name)});
    return answer(registry(), std::move(flags));
  };
  expect_usage(run({"--implementation=plug:./x.so"}), {"'plug:./x.so'", "aclnn, plugin, command"});
  expect_usage(run({"--implementation=plugin:./absent.so"}),
               {"plugin:./absent.so", "is not a file"});
  expect_usage(run({plugin("of_another_abi")}), {"ABI version 7; expected 1"});
  expect_usage(run({"--time-limit=3s"}), {"--isolated"});
  expect_usage(run({plugin("naive"), "--time-limit=never"}), {"--time-limit", "'never'"});
  expect_usage(run({plugin("naive"), "--memory-limit=3"}), {"--memory-limit", "'3'", "512MiB"});
}

TEST(Usage, WorkerCommandIsInternal) {
  const Answer result = answer(registry(), {"worker", std::string(Op::name)});
  EXPECT_EQ(result.code, 3);
  EXPECT_PRED2(has, result.err, "only the judge starts");
  EXPECT_FALSE(has(answer(registry(), {"--help"}).out, "worker"));
}

/// Starts this program with the given command line.
pid_t started(std::vector<std::string> line) {
  line.insert(line.begin(), "assay");
  std::vector<char*> arguments;
  for (std::string& word : line) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t silent;
  posix_spawn_file_actions_init(&silent);
  posix_spawn_file_actions_addopen(&silent, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&silent, STDOUT_FILENO, STDERR_FILENO);
  pid_t pid = -1;
  posix_spawn(&pid, "/proc/self/exe", &silent, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&silent);
  return pid;
}

std::size_t lines_of(const std::string& path) {
  const std::string text = text_of(path);
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST(Resume, KillsAtAnyMomentLoseNothingThatWasFinished) {
  const Folder folder;
  const std::string journal = folder / "s.h5.parts/journal.jsonl";
  std::vector<std::string> line = {
      "sweep",    std::string(Op::name), plugin("naive"), few, "--store", folder / "s.h5",
      "--report", folder / "r.json",     "--fresh=off"};
  const Json whole = reports({plugin("naive"), few});
  std::set<std::string> judged;  // skipped cases cost nothing and are not stored
  for (const Json& one : whole)
    if (one["fields"]["track"] != "arguments") judged.insert(one["id"]);
  ASSERT_GT(judged.size(), 12u);
  std::size_t finished = 0;
  for (int kill_number = 0; kill_number < 3; ++kill_number) {
    const pid_t sweep = started(line);
    // Counts the lines of the journal (list of finished cases). The first line describes the plan,
    // each other line is a finished case.
    while (waitpid(sweep, nullptr, WNOHANG) == 0 && lines_of(journal) < finished + 3)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    kill(sweep, SIGKILL);
    waitpid(sweep, nullptr, 0);
    const std::size_t now = lines_of(journal) - 1;
    EXPECT_GE(now, finished + 1);
    finished = now;
  }
  ASSERT_LT(finished, judged.size());
  line.emplace_back("--resume");
  const Answer last = answer(registry(), line);
  EXPECT_EQ(last.code, 0) << last.err;
  EXPECT_PRED2(
      has, last.err,
      "resuming an interrupted sweep: " + std::to_string(finished) + " cases are finished");
  const std::vector<std::string> stored = fixtures::Reader(folder / "s.h5").ids();
  EXPECT_EQ(std::set(stored.begin(), stored.end()), judged);
  const Json cases = Json::parse(text_of(folder / "r.json"))["cases"];
  ASSERT_EQ(cases.size(), whole.size());
  for (std::size_t k = 0; k < cases.size(); ++k) EXPECT_EQ(outcome(cases[k]), outcome(whole[k]));
}

TEST(Resume, RefusesToStartAnew) {
  const Folder folder;
  const std::string store = folder / "s.h5";
  const char* const quick = "--only=--violate=FAG-C0";
  expect_usage(swept({quick, "--resume"}), {"--resume needs --store"});
  expect_usage(swept({quick, "--resume", "--store", store}),
               {"found no interrupted sweep for " + store});
  std::atomic<bool> stop = true;
  answer(registry(), {"sweep", std::string(Op::name), quick, "--store", store}, stop);
  const Answer other = swept({"--only=--violate=FAG-C08", "--resume", "--store", store});
  EXPECT_EQ(other.code, 2);
  EXPECT_PRED2(has, other.err, std::string("without --resume it is discarded"));
  EXPECT_NE(swept({quick, "--resume", "--store", store}).code, 2);
  expect_usage(swept({quick, "--resume", "--store", store}), {"which is complete"});
  answer(registry(), {"sweep", std::string(Op::name), quick, "--store", store}, stop);
  const Answer anew = swept({"--only=--violate=FAG-C08", "--store", store});
  EXPECT_PRED2(has, anew.err, std::string("it is discarded"));
}

}  // namespace
}  // namespace assay::tests

int main(int argc, char** argv) {
  const std::string first = argc > 1 ? argv[1] : "";
  if (first == "worker" || first == "sweep")
    return assay::cli::main(argc, argv, assay::tests::registry());
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
