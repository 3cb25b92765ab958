#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

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
}

/// Whatever the pages list for packed sequences, and compressed masks in every layout.
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

TEST(Run, APlantedBugIsExitOneWithTheLineThatReplaysIt) {
  const Answer result =
      answer(registry_of({"flash_like", "all_zeros"}),
             words(std::string("run ") + one_case + " --implementation=all_zeros"));
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(result.out.starts_with("nonconformant_")) << result.out;
  EXPECT_PRED2(has, result.out, std::string("--implementation=all_zeros"));
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

}  // namespace
}  // namespace assay::tests
