#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "assay/conformance/results.hpp"
#include "session.hpp"

namespace assay::tests {
namespace {

using Json = nlohmann::json;

/// A large failing case, and what its smallest neighbour must still have.
struct Planted {
  const char* specimen;
  const char* line;
  std::vector<std::string> kept;
};

/// TND, three sequences, four heads, mode 6.
const char* const prefixed =
    "flash_attention_score_grad --layout=TND --surface=u2 --lengths_q=40,7,33 --lengths_kv=40,31,47 "
    "--heads_q=4 --heads_kv=2 --head_dim=32 --head_dim_v=32 --sparse_mode=6 --prefix=20,9,30 "
    "--atten_mask=compressed --dtype=fp16 --inputs=padded --seed=5";

Json shrunk(const std::string& specimen, const std::string& line) {
  const Answer result = answer(registry_of({specimen}), words("shrink " + line + " --json"));
  EXPECT_EQ(result.code, 1) << specimen << ' ' << result.err;
  return Json::parse(result.out);
}

std::int64_t number(const Json& report, const char* field) {
  return std::stoll(report["fields"][field].get<std::string>());
}

TEST(Shrink, APrefixOffByOneNeedsOneSequenceAndFewKeys) {
  const Json json = shrunk("prefix_one_more", prefixed);
  const Json& smallest = json["shrunk"];
  std::cout << json["runs"] << json["end"] << smallest["command_line"] << '\n';
  EXPECT_EQ(number(smallest, "batch"), 1);
  EXPECT_EQ(number(smallest, "heads_q"), 1);
  EXPECT_LE(number(smallest, "seq_kv"), 4);
}

TEST(Shrink, Others) {
  for (const auto& [name, line] : std::vector<std::pair<std::string, std::string>>{
           {"kv_head_modulo", "flash_attention_score_grad --layout=BSND --heads_q=8 --heads_kv=4 --seq_q=90 --seq_kv=130 --batch=3 --head_dim=64 --head_dim_v=64"},
           {"last_batch_skipped", "flash_attention_score_grad --layout=BSND --heads_q=8 --heads_kv=4 --seq_q=90 --seq_kv=130 --batch=3 --head_dim=64 --head_dim_v=64"},
           {"mode7_band_first", "flash_attention_score_grad --layout=TND --surface=u1 --lengths_q=40,7,33 --lengths_kv=40,31,47 --sparse_mode=7 --pre_tokens=20 --next_tokens=0 --atten_mask=compressed --keep_prob=0.5 --drop_mask=exact"},
           {"scale_missing_on_dk", "flash_attention_score_grad --layout=BSND --heads_q=8 --heads_kv=4 --seq_q=300 --seq_kv=500 --batch=3 --head_dim=64 --head_dim_v=64 --track=a1"},
       }) {
    const Json json = shrunk(name, line);
    std::cout << json["runs"] << json["end"] << json["shrunk"]["command_line"] << ' ' << json["shrunk"]["verdict"]<<'\n';
  }
}

}  // namespace
}  // namespace assay::tests
