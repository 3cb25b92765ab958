#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>

#include "session.hpp"

namespace assay::tests {
namespace {

const char* const one_case =
    "flash_attention_score_grad --layout=BSND --heads_q=4 --heads_kv=2 --seq_q=9 --seq_kv=17 "
    "--seed=5";

nlohmann::json run(const cli::Registry& registry, const std::string& line) {
  return nlohmann::json::parse(answer(registry, words("run " + line + " --json")).out);
}

TEST(Run, AHealthyKernelConforms) {
  const Answer result = answer(registry_of({"flash_like"}), words(std::string("run ") + one_case));
  EXPECT_EQ(result.code, 0) << result.out << result.err;
  EXPECT_TRUE(result.out.starts_with("conforms ")) << result.out;
  for (const char* part : {"dq", "dk", "dv", "R_max", "controls", "digest of dv"})
    EXPECT_PRED2(has, result.out, std::string(part));
  EXPECT_TRUE(result.out.ends_with("\nflash_like conforms on this case.\n")) << result.out;
}

/// Tests all shapes of mask and bias that the documentation lists for packed sequences, and
/// compressed masks in every layout.
TEST(Run, EveryListedShapeOfMaskAndBiasCanBeAskedFor) {
  const cli::Registry registry = registry_of({"flash_like"});
  const std::string packed =
      "run flash_attention_score_grad --layout=TND --entry_point=u1 --heads_q=2 --heads_kv=1 "
      "--lengths_q=5,9 --lengths_kv=8,7 ";
  for (const char* const shapes :
       {"--pse_shift=BNSS", "--pse_shift=BN1S", "--pse_shift=1NSS",
        "--sparse_mode=1 --atten_mask=B1SS", "--sparse_mode=1 --atten_mask=BNSS",
        "--sparse_mode=2 --atten_mask=compressed_11SS",
        "--sparse_mode=3 --atten_mask=compressed_B1SS",
        "--sparse_mode=6 --prefix=4,2 --atten_mask=compressed_BNSS"}) {
    const Answer result = answer(registry, words(packed + shapes));
    EXPECT_TRUE(result.out.starts_with("conforms ")) << shapes << '\n' << result.out << result.err;
    EXPECT_EQ(result.code, 0);
  }
}

TEST(Run, InjectedFaultExitsWithOneAndAReplayLine) {
  const Answer result =
      answer(registry_of({"flash_like", "all_zeros"}),
             words(std::string("run ") + one_case + " --implementation=all_zeros"));
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(result.out.starts_with("nonconformant_")) << result.out;
  EXPECT_PRED2(has, result.out, std::string("--implementation=all_zeros"));
  EXPECT_TRUE(result.out.ends_with("\nall_zeros does not conform on this case.\n")) << result.out;
}

TEST(Run, TheReplayLineGivesTheSameBits) {
  const cli::Registry registry = registry_of({"flash_like"});
  const auto first = run(registry, one_case);
  ASSERT_EQ(first["digests"].size(), 3u);
  const auto again = run(registry, first["command_line"]);
  EXPECT_EQ(again["command_line"], first["command_line"]);
  EXPECT_EQ(again["id"], first["id"]);
  EXPECT_EQ(again["digests"], first["digests"]);
  EXPECT_NE(run(registry, std::string(one_case) + "1")["digests"], first["digests"]);
}

TEST(Run, ABrokenCallThatIsAcceptedIsNonconformant) {
  const auto& rows = Op::requirements();
  const auto rejecting = std::find_if(rows.begin(), rows.end(), [](const auto& row) {
    return row.standing == spec::Standing::documented && !row.violations.empty();
  });
  ASSERT_NE(rejecting, rows.end());
  const std::string line =
      "run flash_attention_score_grad --track=arguments --violate=" + std::string(rejecting->id) +
      ":" + std::string(rejecting->violations.front().name);
  const Answer accepted = answer(registry_of({"no_checks"}), words(line));
  EXPECT_EQ(accepted.code, 1);
  EXPECT_TRUE(accepted.out.starts_with("accepted_wrongly")) << accepted.out;
}

/// The gradients of this kernel are NaN, so their error is infinite.
TEST(Run, SaysThatAnErrorIsInfiniteAndHowManyElementsFail) {
  const Folder folder;
  const std::string line =
      "flash_attention_score_grad --seq_q=3 --seq_kv=5 --scale_value=0.5 --track=exact";
  const Answer result = answer(registry_of({"all_nan"}), words("run " + line));
  EXPECT_EQ(result.code, 1);
  EXPECT_PRED2(has, result.out,
               std::string("dq: each of 48 elements is not finite although nothing can overflow"));
  EXPECT_TRUE(std::regex_search(result.out, std::regex("dq +3 of 3 +inf "))) << result.out;
  std::ofstream(folder / "one.txt") << line << '\n';
  const Answer swept =
      answer(registry_of({"all_nan"}),
             {"sweep", "--shrink=0", "--lines", folder / "one.txt", "--report", folder / "r.json"});
  EXPECT_PRED2(has, swept.err, std::string("1 case against all_nan"));
  EXPECT_PRED2(has, swept.out, std::string("all_nan: 1 case, 1 of them judged numerically"));
  EXPECT_TRUE(std::regex_search(swept.out, std::regex("dq +inf "))) << swept.out;
  const auto report = nlohmann::json::parse(text_of(folder / "r.json"));
  const auto& finding = report["cases"][0]["findings"][0];
  EXPECT_EQ(finding["rule"], "structure");
  EXPECT_EQ(finding["expected"], "nan") << "a structural finding has no expected value";
}

const char* const dump_of_few = "dump flash_attention_score_grad --seq_q=3 --seq_kv=5 --npy ";

class Dump : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::set<std::string> files() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_))
      if (entry.is_regular_file())
        names.insert(std::filesystem::relative(entry.path(), folder_).string());
    return names;
  }
  Answer dump(const std::string& line) const {
    return answer(registry_of({"flash_like"}), words(line + folder_.string()));
  }

  std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / ("dump_" + std::to_string(::getpid()));
};

TEST_F(Dump, WritesAndPrintsAFileForEachArray) {
  const Answer result = dump(dump_of_few);
  EXPECT_EQ(result.code, 0) << result.err;
  const std::set<std::string> all = files();
  for (const char* name :
       {"inputs/query.npy", "inputs/softmax_sum.npy", "actual/dk.npy", "expected/dk.npy",
        "radius/dk.npy", "tau/dk.npy", "stages/S.npy", "stages/P.npy", "stages/dP.npy",
        "stages/dS.npy", "stages/row_term.npy"}) {
    EXPECT_TRUE(all.contains(name)) << name;
    EXPECT_PRED2(has, result.out, std::string(name));
  }
  EXPECT_FALSE(all.contains("stages/P_dropped.npy")) << "the case has no dropout";
  EXPECT_PRED2(has, result.out, std::string("stages/S.npy (1, 1, 3, 5)"));
}

TEST_F(Dump, SaysWhyThereAreNoStages) {
  const Answer result = answer(registry_of({"flash_like"}),
                               words("dump flash_attention_score_grad --seq_q=1025 --seq_kv=1024 "
                                     "--npy " +
                                     folder_.string()));
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_PRED2(has, result.out,
               std::string("no stages: the case has 1049600 pairs of query and key; at most"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "stages"));
}

/// A folder with the arrays of two cases would look like a single case, so the arrays of the
/// earlier case must be removed.
TEST_F(Dump, RemovesArraysOfAnotherCase) {
  EXPECT_EQ(dump(dump_of_few).code, 0);
  EXPECT_EQ(dump(dump_of_few).code, 0) << "the same arrays may be overwritten";
  const std::string long_one =
      "dump flash_attention_score_grad --seq_q=1025 --seq_kv=1024 --head_dim=1 --head_dim_v=1 ";
  const std::set<std::string> before = files();
  const Answer result = dump(long_one + "--npy ");
  EXPECT_EQ(result.code, 2);
  EXPECT_PRED2(has, result.err,
               "--npy is '" + folder_.string() + "', which contains stages/P.npy of another dump");
  EXPECT_EQ(files(), before);
  std::filesystem::remove_all(folder_ / "stages");
  std::ofstream(folder_ / "inputs" / "notes.txt") << "no array";
  EXPECT_EQ(dump(long_one + "--npy ").code, 0);
}

TEST_F(Dump, RefusesCasesWithoutArrays) {
  const Answer relation =
      dump("dump flash_attention_score_grad --track=relation --relation=permute_keys --npy ");
  EXPECT_EQ(relation.code, 2);
  EXPECT_PRED2(has, relation.err, std::string("--track is 'relation'"));
}

TEST_F(Dump, NamesAFolderThatCannotBeMade) {
  std::filesystem::create_directories(folder_);
  const std::string below = (folder_ / "file" / "x").string();
  std::ofstream(folder_ / "file") << "in the way";
  const Answer result = answer(registry_of({"flash_like"}), words(dump_of_few + below));
  EXPECT_EQ(result.code, 2);
  EXPECT_PRED2(has, result.err, "--npy is '" + below + "', which cannot be created: ");
}

}  // namespace
}  // namespace assay::tests
