#include "assay/conformance/case.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <sstream>

#include "assay/conformance/operators/flash_attention_score_grad.hpp"

namespace assay::conformance {
namespace {

using Op = spec::FlashAttentionScoreGrad;
using FlashCase = Case<Op>;

FlashCase parse(const std::string& line) {
  std::istringstream words(line);
  std::vector<std::string> list;
  for (std::string word; words >> word;)
    if (word != Op::name) list.push_back(word);
  return parse_case<Op>(list);
}

std::string refusal(const std::string& line) {
  try {
    parse(line);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

template <class Enum>
Enum any_of() {
  const auto& entries = spec::spellings_of<Enum>.entries;
  return entries[static_cast<std::size_t>(
                     *rc::gen::inRange<std::int64_t>(0, static_cast<std::int64_t>(entries.size())))]
      .first;
}

std::string any_name(std::span<const InputProfile> named) {
  return std::string(named[static_cast<std::size_t>(*rc::gen::inRange<std::int64_t>(
                               0, static_cast<std::int64_t>(named.size())))]
                         .name);
}

std::int64_t between(std::int64_t first, std::int64_t last) {
  return *rc::gen::inRange<std::int64_t>(first, last + 1);
}

FlashCase any_case() {
  FlashCase c;
  Op::Problem& p = c.problem;
  p.input_layout = any_of<spec::Layout>();
  p.dtype = *rc::gen::element(spec::DType::fp16, spec::DType::bf16, spec::DType::fp32);
  p.batch = between(1, 5);
  p.heads_kv = between(1, 6);
  p.heads_q = p.heads_kv * between(1, 6);
  p.seq_q = between(1, 3000);
  p.seq_kv = between(1, 3000);
  p.head_dim = between(1, 512);
  p.head_dim_v = between(1, p.head_dim);
  p.scale_value = std::bit_cast<float>(static_cast<std::uint32_t>(between(0x3a000000, 0x40000000)));
  p.sparse_mode = between(0, 3);
  if (p.sparse_mode >= 2)
    p.atten_mask = spec::MaskShape::compressed;
  else
    p.atten_mask = *rc::gen::element(spec::MaskShape::ss, spec::MaskShape::one_one_ss,
                                     spec::MaskShape::b_one_ss, spec::MaskShape::bnss);
  p.mask_dtype = *rc::gen::element(spec::DType::boolean, spec::DType::uint8);
  c.surface = any_of<spec::FlashSurface>();
  c.product = any_of<spec::Product>();
  c.inputs = any_of<spec::Striding>();
  c.outputs = any_of<spec::Striding>();
  c.track = any_of<Track>();
  c.profile = any_name(profiles());
  c.mask = any_name(mask_patterns());
  c.rows = between(0, 100);
  c.seed = *rc::gen::arbitrary<std::uint64_t>();
  return c;
}

RC_GTEST_PROP(Case, ReplayLineParsesBackToTheSameCase, ()) {
  const FlashCase c = any_case();
  const std::string line = command_line(c);
  RC_ASSERT(parse(line) == c);
  RC_ASSERT(command_line(parse(line)) == line);
}

TEST(Case, ReplayLineOmitsDefaultsAndTheNote) {
  FlashCase c;
  c.note = "cut";
  EXPECT_EQ(command_line(c), "flash_attention_score_grad");
  c.problem.dtype = spec::DType::fp16;
  c.problem.seq_q = 129;
  c.problem.scale_value = 0.1f;
  c.profile = "peaked";
  EXPECT_EQ(command_line(c),
            "flash_attention_score_grad --dtype=fp16 --seq_q=129 --scale_value=0.10000000149011612 "
            "--profile=peaked");
}

TEST(Case, FieldTextsNameEveryField) {
  const auto texts = field_texts(FlashCase{});
  EXPECT_EQ(texts.front(), (std::pair<std::string, std::string>{"layout", "BNSD"}));
  EXPECT_EQ(texts.back(), (std::pair<std::string, std::string>{"seed", "1"}));
  EXPECT_EQ(texts.size(), 26u);
}

TEST(Case, IdIsTwelveHexadecimalDigitsOfTheLine) {
  const std::string id = case_id("flash_attention_score_grad");
  EXPECT_EQ(id.size(), 12u);
  EXPECT_EQ(id.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_NE(id, case_id("flash_attention_score_grad --seed=2"));
  EXPECT_EQ(id, case_id("flash_attention_score_grad"));
}

struct BadLine {
  std::string line, message;
};

class CaseRefuses : public testing::TestWithParam<BadLine> {};

TEST_P(CaseRefuses, WithTheWordItsValueAndWhatIsAccepted) {
  EXPECT_NE(refusal(GetParam().line).find(GetParam().message), std::string::npos)
      << refusal(GetParam().line);
}

INSTANTIATE_TEST_SUITE_P(
    Lines, CaseRefuses,
    testing::Values(
        BadLine{"--seqq=5", "'--seqq=5': no field seqq; there are --layout, --dtype"},
        BadLine{"seq_q=5", "'seq_q=5': accepted: --name=value"},
        BadLine{"--seq_q", "'--seq_q': accepted: --name=value"},
        BadLine{"--seq_q=5 --seq_q=6", "--seq_q is given twice"},
        BadLine{"--dtype=bf17", "--dtype=bf17: accepted: fp16, bf16, fp32"},
        BadLine{"--dtype=int8", "--dtype=int8: accepted: fp16, bf16, fp32"},
        BadLine{"--mask_dtype=fp32", "--mask_dtype=fp32: accepted: bool, uint8"},
        BadLine{"--layout=BNDS", "--layout=BNDS: accepted: BSH, SBH, BSND, BNSD"},
        BadLine{"--seq_q=-1", "--seq_q=-1: accepted: 0 to 1048576"},
        BadLine{"--seq_q=1e3", "--seq_q=1e3: accepted: 0 to 1048576"},
        BadLine{"--seq_q=", "--seq_q=: accepted: 0 to 1048576"},
        BadLine{"--batch=99999999999999999999",
                "--batch=99999999999999999999: accepted: 0 to 2097152"},
        BadLine{"--head_dim=513", "--head_dim=513: accepted: 1 to 512"},
        BadLine{"--head_dim_v=17", "--head_dim_v=17: accepted: 1 to head_dim, which is 16"},
        BadLine{"--heads_q=3 --heads_kv=2",
                "--heads_kv=2: accepted: divisors of heads_q, which is 3"},
        BadLine{"--scale_value=nan", "--scale_value=nan: accepted: a finite number"},
        BadLine{"--scale_value=0.1x", "--scale_value=0.1x: accepted: a finite number"},
        BadLine{"--keep_prob=0.5", "accepted: 1 (no dropout)"},
        BadLine{"--seed=-1", "--seed=-1: accepted: 0 to 18446744073709551615"},
        BadLine{"--profile=odd", "--profile=odd: accepted: normal, peaked"},
        BadLine{"--mask=odd", "--mask=odd: accepted: random, open"},
        BadLine{"--sparse_mode=5", "--sparse_mode=5: accepted: 0 to 4"},
        BadLine{"--sparse_mode=2 --atten_mask=SS",
                "--atten_mask=SS: accepted: none, compressed with sparse_mode 2"},
        BadLine{"--atten_mask=compressed",
                "accepted: none, SS, 11SS, B1SS, BNSS with sparse_mode 0"},
        BadLine{"--violate=FAG-C20", "accepted: a violation only with --track=phase1"},
        BadLine{"--track=phase1 --violate=FAG-C999:x",
                "--violate=FAG-C999:x: accepted: ROW:name of a row that can be broken"},
        BadLine{"--heads_q=256 --heads_kv=256 --seq_q=1048576 --seq_kv=1048576 --head_dim=512",
                "the limit is 16.0 GiB"}));

TEST(Case, ExtentsWithoutNumbersAreNotLimitedByMemory) {
  EXPECT_EQ(refusal("--heads_q=256 --seq_q=1048576 --head_dim=512 --track=phase1"), "accepted");
}

}  // namespace
}  // namespace assay::conformance
