// Compares digests of outputs with recorded digests, which must be the same on every machine. The
// cases use the generator of inputs, the reference's forward pass, and the tiled kernel.
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "assay/conformance/judge/prepared_case.hpp"
#include "assay/conformance/operators/flash_attention_score_grad.hpp"
#include "assay/optimized/flash_attention_score_grad.hpp"

namespace assay::conformance {
namespace {

using Op = spec::FlashAttentionScoreGrad;

struct Recorded {
  const char* line;
  std::map<std::string, std::string> digests;
  Verdict verdict = Verdict::conforms;
};

const Recorded recorded[] = {
    {"--dtype=bf16 --layout=BNSD --seq_q=129 --seq_kv=129 --head_dim=64 --head_dim_v=64",
     {{"dk", "1ec7f2ad8a245f3f69c840e6d396f45a21cbe0321ef512521bfb7c5bc3020dbf"},
      {"dq", "7098abb3ddcd2d8635e03e7d847c079f7065b12709d7ab916518500f47572a81"},
      {"dv", "25b8a277a90a1caaff0076f471d949921a6eaa03bd47a22346f42b2050446de6"}}},
    {"--dtype=fp16 --layout=BSH --batch=2 --heads_q=6 --heads_kv=2 --seq_q=70 --seq_kv=200 "
     "--head_dim=40 "
     "--head_dim_v=24 --sparse_mode=3 --atten_mask=compressed --profile=peaked --inputs=padded "
     "--outputs=transposed",
     {{"dk", "cf41e5de2303d94049be25dfd8542ba20dfbb96d3410269e7eefca9fa1cc9907"},
      {"dq", "2851bce97c09f270d6c033fa0c14b5a855a2e0c0b93ebeddb68c5ee0a3ebaaff"},
      {"dv", "5b6aa6a85a2b508510b2a16bf5f1135119a1e215b6ca0fbc250206dfcf937ce4"}},
     Verdict::conforms_weak},  // control L is not detected in one head of dq
    {"--dtype=fp32 --layout=BSND --heads_q=2 --seq_q=90 --seq_kv=90 --keep_prob=0.75 "
     "--drop_mask=exact --pse_type=3 "
     "--pse_shift=N --entry_point=g2",
     {{"dk", "58420af2b453624d0a5fdd9e0831ce3392b31f9a5ee52802b5dd4ef4fd1e63ba"},
      {"dq", "04f27641fa749eea96a0330167ab820644b5a74179a1800e7e6c094a0aa243ec"},
      {"dv", "9e8595b71c2223f1053b85674be6ea13640629eb8402f9d07ee0cf8fd8953348"}}},
    {"--dtype=bf16 --layout=TND --entry_point=u3 --heads_q=2 --heads_kv=1 --lengths_q=3,0,150 "
     "--lengths_kv=200,5,150 "
     "--head_dim=32 --head_dim_v=16 --head_dim_rope=16 --sparse_mode=4 --pre_tokens=20 "
     "--next_tokens=9 "
     "--atten_mask=compressed",
     {{"dk", "da8acccbe1ff71e64ddb81f7b6a60b2f27868adaad0d01dde9b7721ee8a4dd24"},
      {"dk_rope", "0e42996cabac9204bcc3eb53c880b97e43e6705319f2cebcb16875694fcb2272"},
      {"dq", "2db1e768379546d4932f42b2f4c830cab43f56f3fb874649c2564de3c78f8f87"},
      {"dq_rope", "7ed9c903cde8b751286cb5c64364f27330fafa39fc5fcda2d8252587a0a6e8c8"},
      {"dv", "536af96491d0aa85f12e2da776a73bdaf9b870971540b8eb0d5ff6bc12edca27"}}},
    {"--layout=SBH --dtype=fp16 --heads_q=4 --seq_q=65 --seq_kv=56 --head_dim=64 --head_dim_v=64 "
     "--scale_value=0.09375 "
     "--sparse_mode=3 --atten_mask=compressed --track=exact_staged --seed=193",
     {{"dk", "cbcbc01abaad2e7febd34d71d53d9f277f7e9e919f80e086093d93da57d85b30"},
      {"dq", "d3f483b73e2dd28c68e1b01facd9e1284f58543273c97c972c0dc4f764705f14"},
      {"dv", "496e525e9e71ec50e78bf2e213449e7160e47f38f8d94ed87698d81e29abb306"}}},
};

Case<Op> parsed(const std::string& line) {
  std::istringstream text(line);
  std::vector<std::string> words;
  for (std::string word; text >> word;) words.push_back(word);
  return parse_case<Op>(words);
}

TEST(Machines, AllArriveAtTheSameBits) {
  const auto kernel = optimized::flash_attention_score_grad(device::a2());
  for (const Recorded& one : recorded) {
    SCOPED_TRACE(one.line);
    const CaseReport report = judge_case(parsed(one.line), *kernel);
    EXPECT_EQ(report.verdict, one.verdict);
    EXPECT_EQ((std::map(report.digests.begin(), report.digests.end())), one.digests);
  }
}

}  // namespace
}  // namespace assay::conformance
