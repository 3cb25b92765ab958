// Cases with the digests of their outputs, which every machine has to arrive at: generator of
// inputs, forward of the reference and tiled kernel included.
#include <gtest/gtest.h>

#include <map>
#include <sstream>

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
     {{"dk", "036a745b1cc97d14"}, {"dq", "239f91470673da46"}, {"dv", "cb17c3cb6befe197"}}},
    {"--dtype=fp16 --layout=BSH --batch=2 --heads_q=6 --heads_kv=2 --seq_q=70 --seq_kv=200 "
     "--head_dim=40 "
     "--head_dim_v=24 --sparse_mode=3 --atten_mask=compressed --profile=peaked --inputs=padded "
     "--outputs=transposed",
     {{"dk", "2654af2fda7c2365"}, {"dq", "07c5d7414582131c"}, {"dv", "6dc85fcf5842fd15"}},
     Verdict::conforms_weak},  // control L goes unnoticed in a head of dq
    {"--dtype=fp32 --layout=BSND --heads_q=2 --seq_q=90 --seq_kv=90 --keep_prob=0.75 "
     "--drop_mask=exact --pse_type=3 "
     "--pse_shift=N --surface=g2",
     {{"dk", "91475cc7713ce358"}, {"dq", "439dd2e9f8abf2f9"}, {"dv", "66d84affad42765a"}}},
    {"--dtype=bf16 --layout=TND --surface=u3 --heads_q=2 --heads_kv=1 --lengths_q=3,0,150 "
     "--lengths_kv=200,5,150 "
     "--head_dim=32 --head_dim_v=16 --head_dim_rope=16 --sparse_mode=4 --pre_tokens=20 "
     "--next_tokens=9 "
     "--atten_mask=compressed",
     {{"dk", "89530d667bba5a47"},
      {"dk_rope", "2722ce43292a4a62"},
      {"dq", "4d01bfbbc9b96531"},
      {"dq_rope", "906900c3249a44b0"},
      {"dv", "58a3f394acba6afd"}}},
    {"--layout=SBH --dtype=fp16 --heads_q=4 --seq_q=65 --seq_kv=56 --head_dim=64 --head_dim_v=64 "
     "--scale_value=0.09375 "
     "--sparse_mode=3 --atten_mask=compressed --track=a2 --seed=193",
     {{"dk", "5985bae656ffddc1"}, {"dq", "e0e0521500bb5020"}, {"dv", "69f379cd8ec7390a"}}},
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
    const CaseReport report = examine(parsed(one.line), *kernel);
    EXPECT_EQ(report.verdict, one.verdict);
    EXPECT_EQ((std::map(report.digests.begin(), report.digests.end())), one.digests);
  }
}

}  // namespace
}  // namespace assay::conformance
