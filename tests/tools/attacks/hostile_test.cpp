#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <thread>

#include "assay/fixtures/file.hpp"
#include "build_paths.hpp"
#include "program_process.hpp"
#include "session.hpp"

/// Runs the program itself, sometimes in several processes at a time, and kills it.
namespace assay::tests {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

int rounds(int by_day) {
  const char* const wanted = std::getenv("ASSAY_HOSTILE_ROUNDS");
  return wanted == nullptr ? by_day : std::atoi(wanted);
}

std::set<std::string> names_in(const std::string& folder) {
  std::set<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    names.insert(entry.path().filename().string());
  return names;
}

/// Selects a few hundred small cases.
const std::vector<std::string> small_sweep = {"sweep", "nsa_compress_grad", "--random=0",
                                              "--only=--violate=NSAC"};

std::vector<std::string> with(std::vector<std::string> words,
                              const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// Counts the complete records (finished cases) in a journal file.
std::int64_t records_in(const std::string& journal) {
  const std::string text = text_of(journal);
  std::int64_t count = 0;
  for (std::size_t at = 0, end = 0; (end = text.find('\n', at)) != text.npos; at = end + 1)
    count += text.substr(at, end - at).find("\",\"id\":\"") != text.npos ? 1 : 0;
  return count;
}

/// Returns the number after `text` in the output, or 0 if the text does not occur.
std::int64_t number_after(const std::string& output, const std::string& text) {
  const std::size_t at = output.find(text);
  return at == std::string::npos ? 0 : std::stoll(output.substr(at + text.size()));
}

TEST(Kills, LoseNoFinishedCase) {
  const Folder folder;
  const std::string store = folder / "sweep.h5", journal = store + ".parts/journal.jsonl";
  const auto command = with(small_sweep, {"--store", store});
  std::mt19937 random(1);
  std::int64_t taken_up = 0, finished = 0;
  std::size_t cases = 0;
  for (int round = 0; round < rounds(8); ++round) {
    const std::int64_t before = records_in(journal);
    Program sweep(command, folder / "output");
    const auto delay =
        std::chrono::milliseconds(std::uniform_int_distribution<int>(1, 400)(random));
    const auto deadline = std::chrono::steady_clock::now() + delay;
    // Waits until the sweep has resumed its cases, because the test is about kills after this
    // moment. Then the random delay begins.
    while (!sweep.has_ended() && records_in(journal) <= before &&
           std::chrono::steady_clock::now() < deadline + 20s)
      std::this_thread::sleep_for(1ms);
    std::this_thread::sleep_for(delay / 8);
    sweep.kill();
    const int code = sweep.wait();
    const std::string said = sweep.output();
    if (said.find(" cases against ") != said.npos) {
      ASSERT_EQ(number_after(said, "resuming an interrupted sweep: "), before) << said;
      taken_up += before > 0 ? 1 : 0;
    }
    if (code < 0) continue;
    ASSERT_EQ(code, 0) << said;
    const std::size_t found = fixtures::Reader(store).ids().size();
    if (cases == 0) cases = found;
    EXPECT_EQ(found, cases) << "a sweep that was never killed has the same number of cases";
    ++finished;
    fs::remove(store);
  }
  EXPECT_GT(taken_up, 0) << "no sweep was killed between two cases";
  RecordProperty("finished", std::to_string(finished));
  Program last(command, folder / "output");
  EXPECT_EQ(last.wait(), 0) << last.output();
  EXPECT_EQ(names_in(folder / ""), (std::set<std::string>{"sweep.h5", "output"}));
}

/// Writes a file of cases that contains one case with the outputs of three implementations.
std::string file_of_three(const Folder& folder) {
  const std::string exported = folder / "exported.h5", file = folder / "three.h5";
  Program program({"export", exported, "--implementation=optimized-a2", "nsa_compress_grad"},
                  folder / "output");
  EXPECT_EQ(program.wait(), 0) << program.output();
  const fixtures::Reader reader(exported);
  fixtures::CaseRecord record = reader.read(reader.ids().front());
  const fixtures::Actual actual = record.actual.begin()->second;
  record.actual.clear();
  for (const char* name : {"x", "y", "z"}) record.actual[name] = actual;
  fixtures::Writer writer(file);
  writer.write(record);
  writer.close();
  fs::remove(exported);
  return file;
}

TEST(Checks, ThreeOfOneFileAtOnceLoseNothing) {
  const Folder folder;
  const std::string original = file_of_three(folder), file = folder / "cases.h5";
  const fixtures::Reader before(original);
  const std::string id = before.ids().front();
  const std::size_t outputs = before.read(id).actual.at("x").outputs.size();
  for (int round = 0; round < rounds(6); ++round) {
    fs::copy_file(original, file, fs::copy_options::overwrite_existing);
    std::vector<std::unique_ptr<Program>> checks;
    for (const std::string name : {"x", "y", "z"})
      checks.push_back(std::make_unique<Program>(
          std::vector<std::string>{"check", file, "--implementation", name}, folder / name));
    for (const auto& check : checks) ASSERT_EQ(check->wait(), 0) << check->output();
    const fixtures::CaseRecord record = fixtures::Reader(file).read(id);
    for (const char* name : {"x", "y", "z"}) {
      EXPECT_EQ(record.actual.at(name).outputs.size(), outputs);
      EXPECT_EQ(record.verdicts.count(name), 1u) << name << ", round " << round;
    }
  }
  EXPECT_EQ(names_in(folder / ""),
            (std::set<std::string>{"cases.h5", "three.h5", "output", "x", "y", "z"}));
}

TEST(Checks, WaitForTheirTurnAndSaySo) {
  const Folder folder;
  const std::string file = file_of_three(folder);
  const int turn = open((folder / "").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_EQ(flock(turn, LOCK_EX), 0);
  Program check({"check", file}, folder / "said"), other({"check", file}, folder / "other");
  const auto deadline = std::chrono::steady_clock::now() + 30s;
  while (!has(check.output(), "waiting for it") && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(5ms);
  EXPECT_PRED2(has, check.output(), file + " is in use by another process; waiting for it");
  EXPECT_FALSE(check.has_ended());
  other.kill();
  EXPECT_EQ(other.wait(), -1) << "a waiting process can be interrupted";
  close(turn);
  EXPECT_EQ(check.wait(), 0) << check.output();
}

TEST(ParallelSweeps, LeaveOneWholeReport) {
  const Folder folder;
  const std::string report = folder / "out/report.json";
  fs::create_directory(folder / "out");
  std::vector<std::unique_ptr<Program>> sweeps;
  for (const std::string name : {"a", "b", "c"})
    sweeps.push_back(std::make_unique<Program>(
        with(small_sweep, {"--report", report, "--html", folder / "out/page.html", "--junit",
                           folder / "out/junit.xml"}),
        folder / name));
  for (const auto& sweep : sweeps) EXPECT_EQ(sweep->wait(), 0) << sweep->output();
  EXPECT_GT(nlohmann::json::parse(text_of(report))["cases"].size(), 10u);
  EXPECT_EQ(names_in(folder / "out"),
            (std::set<std::string>{"report.json", "page.html", "junit.xml"}));
}

TEST(ParallelSweeps, DoNotShareAStore) {
  const Folder folder;
  const std::string store = folder / "sweep.h5";
  Program first(with(small_sweep, {"--store", store}), folder / "first");
  const auto deadline = std::chrono::steady_clock::now() + 30s;
  while (records_in(store + ".parts/journal.jsonl") == 0 && !first.has_ended() &&
         std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(1ms);
  Program second(with(small_sweep, {"--store", store}), folder / "second");
  const int code = second.wait();
  ASSERT_EQ(first.wait(), 0) << first.output();
  // The second sweep succeeds if it started after the first one had ended.
  if (code != 0) {
    EXPECT_EQ(code, 2);
    EXPECT_PRED2(has, second.output(), std::string("is in use by another process"));
  }
  EXPECT_GT(fixtures::Reader(store).ids().size(), 10u);
}

/// Makes HDF5 crash in every process that opens a file for `use` (reading or writing).
struct CrashAtOpening {
  std::string use;
  void operator()() const {
    setenv("LD_PRELOAD", tests::crashing_hdf5().c_str(), 1);
    setenv("ASSAY_TEST_CRASH", use.c_str(), 1);
  }
};

TEST(CrashesAtOpening, AreTheFaultOfTheFileThatIsNamed) {
  const Folder folder;
  const std::string cases = folder / "cases.h5", out = folder / "output";
  Program exported({"export", cases, "--implementation=optimized-a2", "nsa_compress_grad"}, out);
  ASSERT_EQ(exported.wait(), 0) << exported.output();
  const std::string content = text_of(cases), id = fixtures::Reader(cases).ids().front();
  using Words = std::vector<std::string>;
  for (const auto& [words, use] : {std::pair{Words{"check", cases}, "read"},
                                   {Words{"check", cases}, "write"},
                                   {Words{"explain", id, "--store", cases}, "read"},
                                   {Words{"export", cases, "nsa_compress_grad"}, "read"},
                                   {Words{"sweep", "--store", cases}, "read"}}) {
    Program program(words, out, CrashAtOpening{use});
    EXPECT_EQ(program.wait(), 2) << words.front() << ", " << use << ": " << program.output();
    EXPECT_PRED2(has, program.output(), cases) << words.front() << ", " << use;
    EXPECT_EQ(text_of(cases), content) << words.front() << ", " << use;
  }
}

/// The command computes the verdicts before it notices that the file is damaged. The report must
/// nevertheless contain the verdicts.
TEST(CrashesAtOpening, CrashWhileStoringVerdictsLeavesTheReport) {
  const Folder folder;
  const std::string cases = folder / "cases.h5", report = folder / "report.json";
  Program exported({"export", cases, "--implementation=optimized-a2", "nsa_compress_grad"},
                   folder / "output");
  ASSERT_EQ(exported.wait(), 0) << exported.output();
  Program check({"check", cases, "--report", report}, folder / "output", CrashAtOpening{"write"});
  EXPECT_EQ(check.wait(), 2);
  EXPECT_PRED2(has, check.output(),
               cases +
                   " cannot be read and is probably damaged: the process that reads it was ended "
                   "by SIGSEGV");
  EXPECT_PRED2(has, check.output(), std::string("no verdict is written into it"));
  ASSERT_TRUE(fs::exists(report));
  EXPECT_PRED2(has, text_of(report), std::string("\"conforms\""));
  for (const std::string& name : names_in(folder / "")) EXPECT_FALSE(has(name, ".assay-")) << name;
}

/// Runs a sweep that writes a store (results file) under small system limits, and returns its
/// output.
std::string poor_sweep(const Folder& folder, int& code, const std::string& implementation,
                       const std::function<void()>& prepare) {
  fs::create_directories(folder / "in");
  Program sweep({"sweep", "nsa_compress_grad", "--random=0",
                 "--only=--violate=NSAC-C02:", "--isolated", "--implementation", implementation,
                 "--store", folder / "in/sweep.h5", "--report", folder / "in/report.json"},
                folder / "output", prepare);
  code = sweep.wait();
  return sweep.output();
}

TEST(Poverty, MissingFileDescriptorsAreNamed) {
  const Folder folder;
  bool has_failed = false, has_worked = false;
  for (rlim_t count = 3; count <= 32; count += count < 16 ? 1 : 4) {
    int code = 0;
    const std::string said = poor_sweep(folder, code, "optimized-a2", [count] {
      const rlimit limit{count, count};
      setrlimit(RLIMIT_NOFILE, &limit);
    });
    EXPECT_NE(code, -1) << count << " descriptors: ended by a signal\n" << said;
    if (code == 127 || said.empty()) continue;  // too few descriptors to start any program
    (code == 0 ? has_worked : has_failed) = true;
    EXPECT_TRUE(code == 0 || has(said, "Too many open files")) << count << ": " << said;
  }
  EXPECT_TRUE(has_failed);
  EXPECT_TRUE(has_worked);
}

/// With little memory, some threads cannot be started, and others cannot allocate memory. The
/// program must continue with the remaining threads.
TEST(Poverty, MissingMemoryForThreadsDoesNotBlock) {
  const Folder folder;
  Program run({"run", "flash_attention_score_grad", "--heads_q=16", "--heads_kv=16", "--seq_q=512",
               "--seq_kv=512", "--head_dim=64", "--head_dim_v=64", "--rows=1", "--threads=64"},
              folder / "output", [] {
                const rlimit limit{450'000 << 10, 450'000 << 10};
                setrlimit(RLIMIT_AS, &limit);
              });
  const auto deadline = std::chrono::steady_clock::now() + 100s;
  while (!run.has_ended() && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(10ms);
  ASSERT_TRUE(run.has_ended());
  EXPECT_EQ(run.wait(), 0) << run.output();
}

/// If all file descriptors are in use, the program must not report that the file is damaged.
TEST(Poverty, MissingFileDescriptorsAreNotAFileFault) {
  const Folder folder;
  const std::string store = folder / "sweep.h5", cases = folder / "cases.h5",
                    out = folder / "output";
  using Words = std::vector<std::string>;
  const Words sweeps = {
      "sweep", "nsa_compress_grad", "--random=0", "--only=--violate=NSAC-C02:", "--store", store};
  const Words exports = {"export", cases, "--implementation=optimized-a2", "nsa_compress_grad"};
  for (const Words& command : {sweeps, exports}) ASSERT_EQ(Program(command, out).wait(), 0);
  const std::string id = fixtures::Reader(cases).ids().front();
  for (const Words& command :
       {sweeps, exports, Words{"check", cases}, Words{"explain", id, "--store", cases}}) {
    bool has_failed = false, has_worked = false;
    for (rlim_t count = 5; count <= 16; ++count) {
      Program program(command, out, [count] {
        const rlimit limit{count, count};
        setrlimit(RLIMIT_NOFILE, &limit);
      });
      const int code = program.wait();
      const std::string said = command.front() + ": " + program.output();
      if (code == 127) continue;  // too few descriptors to start any program
      (code == 0 ? has_worked : has_failed) = true;
      if (code == 0) continue;
      EXPECT_EQ(code, 3) << said;
      EXPECT_PRED2(has, said, "Too many open files; the limit is " + std::to_string(count));
    }
    EXPECT_TRUE(has_failed && has_worked) << command.front();
  }
}

/// The program must report any failed allocation while it reads a report, even one in the
/// destructor of a JSON value.
TEST(Poverty, MissingMemoryIsNamedWhenAReportIsRead) {
  const Folder folder;
  const std::string report = folder / "report.json", out = folder / "output";
  Program sweep(
      {"sweep", "nsa_compress_grad", "--random=0", "--only=--track=arguments", "--report", report},
      out);
  ASSERT_EQ(sweep.wait(), 0) << sweep.output();
  bool has_failed = false, has_worked = false;
  for (rlim_t megabytes = 36; megabytes <= 100; ++megabytes) {
    const auto limited = [megabytes] {
      const rlimit limit{megabytes << 20, megabytes << 20};
      setrlimit(RLIMIT_AS, &limit);
    };
    if (Program({"--version"}, out, limited).wait() != 0) continue;  // too little memory to start
    Program program({"report", report}, out, limited);
    const int code = program.wait();
    (code == 0 ? has_worked : has_failed) = true;
    if (code == 0) continue;
    EXPECT_EQ(code, 3) << megabytes << " MiB: " << program.output();
    EXPECT_PRED2(has, program.output(), std::string("there is not enough memory"));
  }
  EXPECT_TRUE(has_failed && has_worked);
}

/// If an export is interrupted, it must remove the file that it has begun.
TEST(Stops, LeaveNothingHalfWritten) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const Folder folder;
    const std::string cases = folder / "in/cases.h5";
    fs::create_directory(folder / "in");
    Program program({"export", cases, "--implementation=optimized-a2"}, folder / "output");
    while (!program.has_ended() && fs::is_empty(folder / "in"))
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    program.kill(signal);
    EXPECT_EQ(program.wait(), 3) << program.output();
    EXPECT_PRED2(has, program.output(), "stopped by a signal; " + cases + " is unchanged");
    EXPECT_TRUE(fs::is_empty(folder / "in"));
  }
}

/// The signal arrives when the process that reads the file starts. At this time many cases are not
/// yet judged, and the file must stay unchanged.
TEST(Stops, LeaveACheckedFileAsItWas) {
  const Folder folder;
  const std::string cases = folder / "cases.h5";
  ASSERT_EQ(Program({"export", cases, "--implementation=optimized-a2", "--random=0",
                     "--only=nsa_compress_grad", "--largest=30000"},
                    folder / "output")
                .wait(),
            0);
  const std::string before = text_of(cases);
  for (const int signal : {SIGINT, SIGTERM}) {
    Program program({"check", cases, "--report", folder / "report.json"}, folder / "output");
    while (!program.has_ended() && !program.has_child())
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    program.kill(signal);
    EXPECT_EQ(program.wait(), 3) << program.output();
    EXPECT_PRED2(has, program.output(), "stopped by a signal; " + cases + " is unchanged");
    EXPECT_TRUE(text_of(cases) == before);
    EXPECT_EQ(names_in(folder / ""), (std::set<std::string>{"cases.h5", "output"}));
  }
  Program whole({"check", cases}, folder / "output");
  EXPECT_EQ(whole.wait(), 0) << whole.output();
  EXPECT_FALSE(text_of(cases) == before) << "a check that is not stopped must write verdicts";
}

TEST(Poverty, MissingTemporaryFolderIsNamed) {
  const Folder folder;
  int code = 0;
  const std::string said = poor_sweep(folder, code, "command:true {}",
                                      [&] { setenv("TMPDIR", (folder / "none").c_str(), 1); });
  EXPECT_NE(code, 0);
  EXPECT_NE(code, -1) << said;
  EXPECT_PRED2(has, said, std::string("no folder for temporary files"));
}

/// Drops root privileges, because resource limits do not apply to root.
void become_nobody() {
  constexpr uid_t nobody = 65534;
  if (geteuid() == 0 && (setgid(nobody) != 0 || setuid(nobody) != 0)) _exit(126);
}

/// A sweep can run without threads, but not without its three processes: the kernel's process and
/// the two processes that guard it.
TEST(Poverty, MissingProcessesAreNamed) {
  const Folder folder;
  fs::permissions(folder / "", fs::perms(0755));
  fs::create_directory(folder / "in");
  fs::permissions(folder / "in", fs::perms(0777));
  for (const std::string implementation : {"optimized-a2", "command:true {}"})
    for (const rlim_t most : {0, 1, 2, 3}) {
      int code = 0;
      const std::string said = poor_sweep(folder, code, implementation, [most] {
        become_nobody();
        const rlimit limit{most, most};
        setrlimit(RLIMIT_NPROC, &limit);
      });
      if (code == 127) GTEST_SKIP() << "the user nobody may not execute this program";
      EXPECT_EQ(code, 3) << said;
      EXPECT_PRED2(has, said,
                   "cannot be started; this user may have " + std::to_string(most) + " processes");
    }
}

TEST(Poverty, MissingRightsAreNamedBeforeTheFirstCase) {
  const Folder folder;
  fs::create_directory(folder / "in");
  fs::permissions(folder / "in", fs::perms(0555));
  fs::permissions(folder / "", fs::perms(0755));
  int code = 0;
  const std::string said = poor_sweep(folder, code, "optimized-a2", become_nobody);
  if (code == 127) GTEST_SKIP() << "the user nobody may not execute this program";
  EXPECT_EQ(code, 2) << said;
  EXPECT_PRED2(has, said, std::string("cannot be written: no file can be created in"));
  EXPECT_TRUE(fs::is_empty(folder / "in"));
}

/// A kernel that runs in the judge's process can change its working directory. The results must
/// nevertheless be written to the right folder.
TEST(Poverty, LeavingTheFolderChangesNoDestination) {
  struct Wanderer final : spec::Implementation<spec::NsaCompressGrad> {
    explicit Wanderer(std::string elsewhere) : to(std::move(elsewhere)) {}
    std::string name() const override { return "wanderer"; }
    void check(const spec::Call<spec::NsaCompressGrad>&) const override { fs::current_path(to); }
    void run(const spec::NsaCompressGrad::Problem&, const spec::NsaCompressGrad::Inputs&,
             spec::NsaCompressGrad::Outputs&) override {}
    std::string to;
  };
  const Folder folder;
  const fs::path here = fs::current_path();
  for (const char* name : {"start", "elsewhere"}) fs::create_directory(folder / name);
  cli::Registry registry;
  registry.add<spec::NsaCompressGrad>(
      {.name = "wanderer",
       .summary = "goes elsewhere",
       .make = [&] { return std::make_unique<Wanderer>(folder / "elsewhere"); },
       .in_process = true});
  fs::current_path(folder / "start");
  const Answer result = answer(
      registry, {"sweep", "--only=--violate=NSAC-C02:", "--random=0", "--shrink=1", "--store",
                 "s.h5", "--report", "r.json", "--html", "p.html", "--junit", "j.xml"});
  const bool went = fs::current_path() != fs::path(folder / "start");
  fs::current_path(here);
  EXPECT_TRUE(went) << result.err;
  EXPECT_EQ(names_in(folder / "start"),
            (std::set<std::string>{"s.h5", "r.json", "p.html", "j.xml"}));
  EXPECT_TRUE(fs::is_empty(folder / "elsewhere"));
}

}  // namespace
}  // namespace assay::tests
