#include <gtest/gtest.h>
#include <sys/stat.h>

#include <functional>
#include <future>
#include <map>
#include <nlohmann/json.hpp>

#include "assay/fixtures/file.hpp"
#include "assay/fixtures/store.hpp"
#include "session.hpp"

namespace assay::tests {
namespace {

namespace fs = std::filesystem;

/// Planning a sweep takes the least time for this operator.
using CompressOp = spec::NsaCompressGrad;

/// A kernel that counts its calls. If the program refuses a destination, it must not call the
/// kernel.
class Watched final : public spec::Implementation<CompressOp> {
 public:
  Watched(int& calls, std::function<void()>& at_call) : calls_(calls), at_call_(at_call) {}
  std::string name() const override { return "watched"; }
  void check(const spec::Call<CompressOp>&) const override {
    ++calls_;
    if (at_call_) at_call_();
  }
  void run(const CompressOp::Problem&, const CompressOp::Inputs&, CompressOp::Outputs&) override {
    ++calls_;
  }

 private:
  int& calls_;
  std::function<void()>& at_call_;
};

class Destinations : public testing::Test {
 protected:
  Destinations() {
    registry.add<CompressOp>({.name = "watched",
                              .summary = "counts",
                              .make = [this] { return std::make_unique<Watched>(calls, at_call); },
                              .in_process = true});
  }

  Answer sweep(std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"sweep", "--only=--violate=NSAC-C02:", "--random=0"});
    return answer(registry, flags);
  }
  void expect_refusal(const Answer& result, const std::vector<std::string>& parts) {
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_EQ(result.out, "");
    for (const std::string& part : parts) EXPECT_PRED2(has, result.err, part);
    EXPECT_EQ(calls, 0) << "no case may run before the refusal";
  }

  cli::Registry registry;
  int calls = 0;
  std::function<void()> at_call;
  Folder folder;
};

TEST_F(Destinations, FolderIsRefusedBeforeTheFirstCase) {
  fs::create_directory(folder / "f");
  for (const char* flag : {"--report", "--html", "--junit", "--store"})
    expect_refusal(sweep({std::string(flag) + "=" + (folder / "f")}),
                   {std::string(flag) + " is '", "which is a folder"});
  expect_refusal(answer(registry, {"export", folder / "f"}), {"file is '", "which is a folder"});
}

TEST_F(Destinations, FileBelowAFileIsRefusedBeforeTheFirstCase) {
  std::ofstream(folder / "file") << "mine";
  expect_refusal(sweep({"--html", folder / "file/page.html"}), {"--html", "cannot be written"});
  EXPECT_EQ(text_of(folder / "file"), "mine");
}

TEST_F(Destinations, TwoResultsNeedTwoFiles) {
  const std::string file = folder / "a.txt";
  expect_refusal(sweep({"--report", file, "--html", file}),
                 {"--html is '", "the file of --report"});
  expect_refusal(sweep({"--report", file, "--store", folder / "./a.txt"}),
                 {"--store is '", "the file of --report"});
  fs::create_symlink("a.txt", folder / "link");
  expect_refusal(sweep({"--report", file, "--junit", folder / "link"}),
                 {"--junit is '", "the file of --report"});
  expect_refusal(sweep({"--report=-", "--junit=-"}), {"--junit is '-'", "the file of --report"});
  std::ofstream(folder / "r.json") << "{}";
  expect_refusal(answer(registry, {"report", folder / "r.json", "--html", folder / "r.json"}),
                 {"report is '", "the file of --html"});
  EXPECT_EQ(text_of(folder / "r.json"), "{}");
}

/// A file in the current folder has several names, even before it exists. The program must
/// recognize that they name one file.
TEST_F(Destinations, TwoNamesOfOneFileAreOneFile) {
  const fs::path before = fs::current_path();
  fs::current_path(folder / ".");
  const std::string whole = folder / "a.txt";
  const Answer dotted = sweep({"--report=a.txt", "--html=./a.txt"});
  const Answer absolute = sweep({"--report=a.txt", "--html", whole});
  const Answer stored = sweep({"--report=./s.h5", "--store=s.h5"});
  fs::current_path(before);
  expect_refusal(dotted, {"--html is './a.txt'", "the file of --report"});
  expect_refusal(absolute, {"--html is '", "the file of --report"});
  expect_refusal(stored, {"--store is 's.h5'", "the file of --report"});
}

TEST_F(Destinations, AStoreReplacesNothingButAStore) {
  const std::string exported = folder / "cases.h5", text = folder / "thesis.txt";
  ASSERT_EQ(answer(registry, {"export", exported, "--recipe-only", "nsa_compress_grad"}).code, 0);
  std::ofstream(text) << "mine";
  const std::string before = text_of(exported);
  expect_refusal(sweep({"--store", exported}), {"--store is '", "is not the store of a sweep"});
  expect_refusal(sweep({"--store", text}), {"--store is '", "is not the store of a sweep"});
  expect_refusal(sweep({"--store=-"}), {"--store is '-'", "needs a file name"});
  EXPECT_EQ(text_of(exported), before);
  EXPECT_EQ(text_of(text), "mine");
  const std::string store = folder / "s.h5";
  EXPECT_NE(sweep({"--store", store}).code, 2);
  calls = 0;
  EXPECT_NE(sweep({"--store", store}).code, 2) << "a file of the same kind may be replaced";
  EXPECT_GT(calls, 0);
  calls = 0;
  expect_refusal(answer(registry, {"export", store}),
                 {"file is '", "is not a file of assay export"});
  expect_refusal(answer(registry, {"export", text}),
                 {"file is '", "is not a file of assay export"});
}

TEST_F(Destinations, TheFolderOfTheStoresPartsIsItsOwn) {
  fs::create_directory(folder / "s.h5.parts");
  std::ofstream(folder / "s.h5.parts/thesis.h5") << "mine";
  expect_refusal(sweep({"--store", folder / "s.h5"}),
                 {"--store: ", "s.h5.parts is not a folder of a store: it contains thesis.h5"});
  EXPECT_EQ(text_of(folder / "s.h5.parts/thesis.h5"), "mine");
  std::ofstream(folder / "t.h5.parts") << "mine";
  expect_refusal(sweep({"--store", folder / "t.h5"}), {"--store: ", "t.h5.parts is not a folder"});
  EXPECT_EQ(text_of(folder / "t.h5.parts"), "mine");
}

/// The journal file (list of finished cases) is a pipe here. Reading it would block forever, so the
/// program must refuse it.
TEST_F(Destinations, JournalThatIsNotAFileIsRefused) {
  fs::create_directories(folder / "s.h5.parts");
  ASSERT_EQ(mkfifo((folder / "s.h5.parts/journal.jsonl").c_str(), 0600), 0);
  fs::create_directories(folder / "t.h5.parts/journal.jsonl");
  for (const char* store : {"s.h5", "t.h5"}) {
    const std::vector<std::string> parts = {"--store: ",
                                            std::string(store) + ".parts/journal.jsonl is not"};
    expect_refusal(sweep({"--store", folder / store}), parts);
    expect_refusal(sweep({"--store", folder / store, "--resume"}), parts);
  }
}

TEST_F(Destinations, AStoreThatAnotherSweepWritesIsRefused) {
  const fixtures::Store running(folder / "s.h5", "its plan");
  expect_refusal(
      sweep({"--store", folder / "s.h5"}),
      {"--store: ", "is in use by another process; only one sweep at a time can write to a store"});
}

TEST_F(Destinations, ALinkStaysALink) {
  fs::create_directory(folder / "real");
  for (const std::string name : {"r.json", "p.html", "j.xml", "s.h5", "c.h5"})
    fs::create_symlink("real/" + name, folder / name);
  std::ofstream(folder / "real/r.json") << R"({"schema": "assay-report-2"})";
  sweep({"--report", folder / "r.json", "--html", folder / "p.html", "--junit", folder / "j.xml",
         "--store", folder / "s.h5"});
  answer(registry, {"export", folder / "c.h5", "--recipe-only", "nsa_compress_grad"});
  for (const std::string name : {"r.json", "p.html", "j.xml", "s.h5", "c.h5"}) {
    EXPECT_TRUE(fs::is_symlink(folder / name)) << name;
    EXPECT_GT(fs::file_size(folder / ("real/" + name)), 3U) << name;
  }
  fs::create_symlink("circle", folder / "circle");
  expect_refusal((calls = 0, sweep({"--html", folder / "circle"})),
                 {"is a link in a cycle of links"});
}

/// A mistyped path may name a source file, or a result file of another type. Such a file must not
/// be overwritten.
TEST_F(Destinations, FileOfAnotherKindIsNotOverwritten) {
  const std::map<std::string, std::string> written = {{"--report", folder / "r.json"},
                                                      {"--html", folder / "p.html"},
                                                      {"--junit", folder / "j.xml"}};
  for (const auto& [flag, path] : written) EXPECT_NE(sweep({flag, path}).code, 2) << flag;
  std::ofstream(folder / "k.cpp") << "mine";
  for (const auto& [flag, own] : written) {
    calls = 0;
    expect_refusal(sweep({flag, folder / "k.cpp"}),
                   {flag + " is '", "exists and is not ", "name another file, or add --force"});
    for (const auto& [other, path] : written)
      if (other != flag) expect_refusal(sweep({flag, path}), {flag + " is '", "exists and is not"});
    EXPECT_NE(sweep({flag, own}).code, 2) << "a file of the same kind may be replaced, " << flag;
  }
  EXPECT_EQ(text_of(folder / "k.cpp"), "mine");
  std::ofstream(folder / "empty");
  EXPECT_NE(sweep({"--html", folder / "empty"}).code, 2) << "an empty file may be replaced";
  EXPECT_NE(sweep({"--html", folder / "k.cpp", "--force"}).code, 2);
  EXPECT_TRUE(text_of(folder / "k.cpp").starts_with("<!DOCTYPE html>"));
}

TEST_F(Destinations, EveryCommandKeepsFilesOfOthers) {
  sweep({"--report", folder / "r.json"});
  calls = 0;
  const std::string mine = folder / "mine.txt", report = folder / "r.json";
  std::ofstream(mine) << "mine";
  const std::vector<std::string> to_export = {"export", folder / "c.h5", "--recipe-only",
                                              "nsa_compress_grad"};
  ASSERT_EQ(answer(registry, to_export).code, 0);
  for (const std::vector<std::string>& line :
       std::vector<std::vector<std::string>>{{"report", report, "--html", mine},
                                             {"report", report, report, "--json", mine},
                                             {"check", folder / "c.h5", "--report", mine},
                                             {"check", folder / "c.h5", "--html", mine},
                                             {"check", folder / "c.h5", "--junit", mine},
                                             {"merge", report, "--report", mine}})
    expect_refusal(answer(registry, line), {"mine.txt', which exists and is not "});
  EXPECT_EQ(text_of(mine), "mine");
  for (const char* time : {"nothing lies there", "its own kind is replaced"}) {
    const Answer written =
        answer(registry, {"report", report, report, "--json", folder / "changes.json"});
    EXPECT_EQ(written.code, 0) << time << written.err;
  }
}

TEST_F(Destinations, AFolderThatAMistypedPathImpliesIsNotMade) {
  const std::string absent = folder / "reprots", file = absent + "/x";
  for (const char* flag : {"--report", "--html", "--junit", "--store"})
    expect_refusal(sweep({flag, file}),
                   {std::string(flag) + " is '", "reprots: the folder does not exist"});
  expect_refusal(answer(registry, {"export", file}), {"file is '", "the folder does not exist"});
  expect_refusal(answer(registry, {"dump", "nsa_compress_grad", "--npy", file}),
                 {"--npy is '", "reprots does not exist", "create it first"});
  expect_refusal(answer(registry, {"pack", "smoke", "--to", file}),
                 {"--to is '", "reprots does not exist", "create it first"});
  EXPECT_FALSE(fs::exists(absent));
  EXPECT_NE(answer(registry, {"dump", "nsa_compress_grad", "--npy", folder / "npy"}).code, 2)
      << "the folder must be created";
}

/// A pipe is an example of a file that is not a regular file. The program must write into it and
/// must not replace it.
TEST_F(Destinations, SpecialFileIsWrittenInPlace) {
  const std::string pipe = folder / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  auto reader = std::async(std::launch::async, [&] { return text_of(pipe); });
  const Answer result = sweep({"--report", pipe});
  const std::string text = reader.get();
  EXPECT_TRUE(fs::is_fifo(pipe)) << "the pipe was replaced";
  EXPECT_GT(nlohmann::json::parse(text)["cases"].size(), 0U);
  expect_refusal((calls = 0, sweep({"--store", pipe})), {"--store is '", "not a regular file"});
}

/// Passes a link to the device /dev/full, so that a faulty program replaces only the link and not
/// the device.
TEST_F(Destinations, ADeviceThatIsFullIsAnError) {
  if (access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full that may be written";
  fs::create_symlink("/dev/full", folder / "full");
  for (const char* flag : {"--report", "--html", "--junit"})
    expect_refusal(sweep({flag, folder / "full"}),
                   {std::string(flag) + " is '", "which cannot be written: No space left"});
  EXPECT_TRUE(fs::is_symlink(folder / "full"));
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

/// If one result cannot be written, the program must still print the table and write the other
/// results.
TEST_F(Destinations, FailureOfOneDoesNotAffectOthers) {
  const std::map<std::string, std::string> files = {
      {"--report", "r.json"}, {"--html", "p.html"}, {"--junit", "j.xml"}};
  fs::path target;
  at_call = [&] { fs::remove(target), fs::create_directory(target); };  // makes the rename fail
  for (const auto& [failing, its_file] : files) {
    fs::create_directory(folder / "in");
    target = folder / ("in/" + its_file);
    std::vector<std::string> flags = {"--store", folder / "s.h5"};
    for (const auto& [flag, file] : files)
      flags.insert(flags.end(), {flag, folder / (flag == failing ? "in/" + file : file)});
    const Answer result = sweep(flags);
    EXPECT_EQ(result.code, 3) << failing;
    EXPECT_PRED2(has, result.err, "assay: " + failing + " was not written: ");
    EXPECT_PRED2(has, result.out, std::string("verdict ")) << "the table must be printed";
    EXPECT_FALSE(has(result.out, folder / ("in/" + its_file))) << result.out;
    for (const auto& [flag, file] : files) {
      EXPECT_EQ(fs::exists(folder / file), flag != failing) << file;
      fs::remove(folder / file);
    }
    EXPECT_GT(fixtures::Reader(folder / "s.h5").ids().size(), 0u);
    fs::remove(folder / "s.h5");
    fs::remove_all(folder / "in");
  }
}

/// If the folder of the store (results file) disappears during the sweep, the results must still be
/// reported, because the sweep may have taken hours.
TEST_F(Destinations, AStoreWhoseFolderDisappearsStillGivesAReport) {
  fs::create_directory(folder / "in");
  at_call = [&] { fs::remove_all(folder / "in"); };
  const Answer result =
      sweep({"--store", folder / "in/s.h5", "--report", folder / "r.json", "--verbose"});
  EXPECT_EQ(result.code, 3);
  EXPECT_PRED2(has, result.err, std::string("the sweep continues without it"));
  EXPECT_PRED2(has, result.err, std::string("assay: --store was not written: "));
  EXPECT_PRED2(has, result.out, std::string("verdict "));
  const auto report = nlohmann::json::parse(text_of(folder / "r.json"));
  EXPECT_EQ(report["cases"].size(), report["summary"]["planned"].get<std::size_t>());
  EXPECT_EQ(report["summary"]["exit_code"], 3);
}

TEST_F(Destinations, AMinusIsStandardOutput) {
  const auto here = fs::current_path();
  fs::current_path(folder / "");
  const Answer json = sweep({"--report=-"}), page = sweep({"--html=-"});
  const bool made = fs::exists("-");
  fs::current_path(here);
  EXPECT_FALSE(made) << "there must not be a file of that name";
  EXPECT_GT(nlohmann::json::parse(json.out)["cases"].size(), 0U);
  EXPECT_PRED2(has, json.err, std::string("verdict "))
      << "the summary must be printed on standard error";
  EXPECT_TRUE(page.out.starts_with("<!")) << page.out.substr(0, 100);
}

}  // namespace
}  // namespace assay::tests
