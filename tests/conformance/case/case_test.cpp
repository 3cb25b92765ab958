#include "assay/conformance/case/case.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <sstream>

#include "assay/conformance/operators/flash_attention_score_grad.hpp"
#include "attention/flash/memory.hpp"

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

/// Makes lengths of up to `most` tokens. The lengths are not all equal, because a case line does
/// not write equal lengths as a list.
std::vector<std::int64_t> any_lengths(std::int64_t count, std::int64_t most) {
  std::vector<std::int64_t> lengths = {most};
  while (static_cast<std::int64_t>(lengths.size()) < count)
    lengths.push_back(between(0, 1) == 0 ? lengths.back() : between(1, most));
  lengths.back() = most - 1;
  return lengths;
}

void pack(Op::Problem& p) {
  p.input_layout = spec::Layout::tnd;
  if (p.batch > 1 && between(0, 3) != 0) p.lengths_q = any_lengths(p.batch, p.seq_q);
  if (p.batch > 1 && between(0, 3) != 0) p.lengths_kv = any_lengths(p.batch, p.seq_kv);
  p.padding_q = between(0, 2), p.padding_kv = between(0, 2);
}

void add_dropout(Op::Problem& p) {
  p.keep_prob = static_cast<float>(between(1, 9)) / 10;
  p.drop_mask = *rc::gen::element(spec::DropMask::exact, spec::DropMask::granules);
}

/// Chooses a random data type that the entry point accepts. Rope requires BFLOAT16, and entry
/// points with a sink do not accept FLOAT32.
spec::DType any_type(spec::FlashEntryPoint entry_point) {
  if (spec::requires_rope(entry_point)) return spec::DType::bf16;
  if (!spec::takes_fp32(entry_point))
    return *rc::gen::element(spec::DType::fp16, spec::DType::bf16);
  return *rc::gen::element(spec::DType::fp16, spec::DType::bf16, spec::DType::fp32);
}

FlashCase any_case() {
  FlashCase c;
  Op::Problem& p = c.problem;
  c.entry_point = any_of<spec::FlashEntryPoint>();
  const bool rope = spec::requires_rope(c.entry_point);
  p.input_layout = *rc::gen::element(spec::Layout::bsh, spec::Layout::sbh, spec::Layout::bsnd,
                                     spec::Layout::bnsd);
  p.dtype = any_type(c.entry_point);
  p.batch = between(1, 5);
  p.heads_kv = between(1, 6);
  p.heads_q = p.heads_kv * between(1, 6);
  p.seq_q = between(2, 1500);
  p.seq_kv = between(2, 1500);
  p.head_dim = rope ? 8 * between(1, 20) : between(1, 512);
  p.head_dim_v = between(1, p.head_dim);
  if (rope) p.head_dim_rope = 8 * between(1, p.head_dim / 8);
  if (spec::is_unpadding(c.entry_point)) pack(p);
  p.scale_value = std::bit_cast<float>(static_cast<std::uint32_t>(between(0x3a000000, 0x40000000)));
  if (!rope && between(0, 1) == 0) add_dropout(p);
  p.sparse_mode = between(0, 3);
  if (p.sparse_mode >= 2)
    p.atten_mask = spec::MaskShape::compressed;
  else if (spec::is_unpadding(c.entry_point))
    p.atten_mask = *rc::gen::element(spec::MaskShape::ss, spec::MaskShape::one_one_ss);
  else
    p.atten_mask = *rc::gen::element(spec::MaskShape::ss, spec::MaskShape::one_one_ss,
                                     spec::MaskShape::b_one_ss, spec::MaskShape::bnss);
  p.mask_dtype = *rc::gen::element(spec::DType::boolean, spec::DType::uint8);
  if (spec::has_softmax_in_layout(c.entry_point))
    p.softmax_in_layout = any_of<spec::SoftmaxInLayout>();
  if (is_packed(p.input_layout)) p.statistics_order = any_of<spec::StatisticsOrder>();
  if (spec::has_pse_type(c.entry_point))
    p.q_start_idx = {between(-9, 9)}, p.kv_start_idx = {3, 3, 3};
  c.product = any_of<spec::Product>();
  c.inputs = any_of<spec::Striding>();
  c.outputs = any_of<spec::Striding>();
  for (const char* name : {"dy", "value", "query"})
    if (between(0, 3) == 0) c.inputs.set(name, any_of<spec::Striding>());
  if (between(0, 3) == 0) c.outputs.set("dv", any_of<spec::Striding>());
  // Chooses a random relation (a statement about several runs), but only if the relation applies to
  // the problem.
  c.track = *rc::gen::element(Track::exact, Track::exact_staged, Track::bound, Track::arguments);
  const bool has_exact_sums = c.track == Track::exact || c.track == Track::exact_staged;
  if (spec::has_sink(c.entry_point) && !has_exact_sums) {
    p.sink = spec::SinkShape::per_head;
    c.patterns.sink_size = any_name(flash::sink_patterns());
  }
  c.profile = any_name(Suite<Op>::profiles());
  c.patterns.mask = any_name(flash::mask_patterns());
  c.patterns.drop = any_name(flash::drop_patterns());
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

TEST(Case, StridesAreSortedByNameWithoutRepetition) {
  const FlashCase c =
      parse("flash_attention_score_grad --inputs=padded,value:far,dy:mixed,key:padded");
  EXPECT_EQ(command_line(c), "flash_attention_score_grad --inputs=padded,dy:mixed,value:far");
  EXPECT_EQ(c.inputs.of("query"), spec::Striding::padded);
  EXPECT_EQ(c.inputs.of("value"), spec::Striding::far);
  EXPECT_EQ(command_line(parse("flash_attention_score_grad --inputs=contiguous,dy:padded")),
            "flash_attention_score_grad --inputs=dy:padded");
}

TEST(Case, FieldTextsNameEveryField) {
  const auto texts = field_texts(FlashCase{});
  EXPECT_EQ(texts.front(), (std::pair<std::string, std::string>{"layout", "BNSD"}));
  EXPECT_EQ(texts.back(), (std::pair<std::string, std::string>{"seed", "1"}));
  EXPECT_EQ(texts.size(), 48u);
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

void PrintTo(const BadLine& bad, std::ostream* out) { *out << bad.line; }

class CaseRefuses : public testing::TestWithParam<BadLine> {};

TEST_P(CaseRefuses, MessageNamesWordValueAndAcceptedValues) {
  EXPECT_NE(refusal(GetParam().line).find(GetParam().message), std::string::npos)
      << refusal(GetParam().line);
}

INSTANTIATE_TEST_SUITE_P(
    Lines, CaseRefuses,
    testing::Values(
        BadLine{"--seqq=5",
                "'--seqq=5': no field is called seqq; did you mean '--seq_q'? The fields are "
                "--layout, --dtype"},
        BadLine{"seq_q=5", "'seq_q=5': accepted: --name=value"},
        BadLine{"--seq_q", "'--seq_q': accepted: --name=value"},
        BadLine{"--seq_q=5 --seq_q=6", "--seq_q is given twice"},
        BadLine{"--dtype=bf17", "--dtype=bf17: did you mean 'bf16'? accepted: fp16, bf16, fp32"},
        BadLine{"--dtype=int8", "--dtype=int8: accepted: fp16, bf16, fp32"},
        BadLine{"--mask_dtype=fp32", "--mask_dtype=fp32: accepted: bool, uint8"},
        BadLine{"--layout=BNDS", "--layout=BNDS: accepted: BSH, SBH, BSND, BNSD, TND"},
        BadLine{"--seq_q=-1", "--seq_q=-1: accepted: 0 to 1048576"},
        BadLine{"--seq_q=1e3", "--seq_q=1e3: accepted: 0 to 1048576"},
        BadLine{"--seq_q=", "--seq_q=: accepted: 0 to 1048576"},
        BadLine{"--batch=99999999999999999999",
                "--batch=99999999999999999999: accepted: 0 to 2097152"},
        BadLine{"--head_dim=769", "--head_dim=769: accepted: 1 to 768"},
        BadLine{"--head_dim_v=17", "--head_dim_v=17: accepted: 1 to head_dim, which is 16"},
        BadLine{"--heads_q=3 --heads_kv=2",
                "--heads_kv=2: accepted: divisors of heads_q, which is 3"},
        BadLine{"--scale_value=nan", "--scale_value=nan: accepted: a finite number"},
        BadLine{"--scale_value=0.1x", "--scale_value=0.1x: accepted: a finite number"},
        BadLine{"--scale_value=1e39",
                "--scale_value=1e+39: accepted: a number in the range of fp32"},
        BadLine{"--keep_prob=1e-38 --drop_mask=exact",
                "--keep_prob=1e-38: accepted: 1, or a number from 2^-32 to below 1 (rounded to "
                "float)"},
        BadLine{"--keep_prob=0.5",
                "--keep_prob=0.5 needs a drop mask: add --drop_mask=exact or --drop_mask=granules"},
        BadLine{"--keep_prob=0 --drop_mask=exact", "--keep_prob=0: accepted: 1, or a number"},
        BadLine{"--keep_prob=1.5 --drop_mask=exact", "--keep_prob=1.5: accepted: 1, or a number"},
        BadLine{"--keep_prob=1e-60 --drop_mask=exact",
                "--keep_prob=1e-60: accepted: 1, or a number"},
        BadLine{"--keep_prob=0.999999999 --drop_mask=exact", "--keep_prob=0.999999999: accepted"},
        BadLine{
            "--inputs=odd",
            "--inputs=odd: accepted: contiguous, padded, transposed, columns, mixed, far for all "
            "tensors; or NAME:STRIDING for single tensors, separated by commas"},
        BadLine{"--inputs=dy:padded,padded", "--inputs=dy:padded,padded: accepted"},
        BadLine{"--inputs=dy:padded,dy:far", "--inputs=dy:padded,dy:far: accepted"},
        BadLine{"--inputs=dq:padded", "--inputs=dq:padded: accepted: contiguous"},
        BadLine{"--outputs=dy:padded", "names are dq, dq_rope, dk, dk_rope, dv"},
        BadLine{"--inputs=pse_shift:padded",
                "--inputs=pse_shift:padded: accepted: names of tensors that the call has; the call "
                "has no pse_shift"},
        BadLine{"--padding_q=3", "--padding_q=3: accepted: 0 with layout BNSD"},
        BadLine{"--layout=TND --entry_point=u1 --padding_kv=3 --track=relation "
                "--relation=sequences_alone",
                "--padding_kv=3: accepted: 0 with --track=relation"},
        BadLine{"--seed=-1", "--seed=-1: accepted: 0 to 18446744073709551615"},
        BadLine{"--profile=odd", "--profile=odd: accepted: normal, peaked"},
        BadLine{"--mask=odd", "--mask=odd: accepted: random, open"},
        BadLine{"--drop=odd",
                "--drop=odd: accepted: random, whole_rows, last_bits, "
                "all_kept, all_dropped"},
        BadLine{"--sparse_mode=9", "--sparse_mode=9: accepted: 0 to 8"},
        BadLine{"--sparse_mode=2 --atten_mask=SS",
                "--atten_mask=SS: accepted: none, compressed, compressed_11SS, compressed_B1SS, "
                "compressed_BNSS with sparse_mode 2"},
        BadLine{"--atten_mask=compressed",
                "accepted: none, SS, 11SS, B1SS, BNSS with sparse_mode 0"},
        BadLine{"--violate=FAG-C20",
                "accepted: no --violate without --track=arguments; add --track=arguments"},
        BadLine{"--track=arguments --violate=FAG-C999:x",
                "--violate=FAG-C999:x: accepted: ID:name as 'assay explain ID' prints it"},
        BadLine{"--variant=FAG-C29:none",
                "--variant=FAG-C29:none: accepted: FAG-C29:padding_mask_bool"},
        BadLine{"--layout=TND --entry_point=u4 --variant=FAG-C29:padding_mask_bool",
                "--variant=FAG-C29:padding_mask_bool: accepted: where FAG-C29 applies to the call"},
        BadLine{"--layout=TND --entry_point=u1 --variant=API-6:dpse --track=relation "
                "--relation=sequences_alone",
                "--variant=API-6:dpse: accepted: none with --track=relation"},
        BadLine{"--heads_q=256 --heads_kv=256 --seq_q=1048576 --seq_kv=1048576 --head_dim=512",
                "the limit is 16.0 GiB"}));

INSTANTIATE_TEST_SUITE_P(
    EntryPoints, CaseRefuses,
    testing::Values(
        BadLine{"--layout=TND", "--layout=TND: accepted: BSH, SBH, BSND, BNSD with entry point g1"},
        BadLine{"--entry_point=u2", "--layout=BNSD: accepted: TND with entry point u2"},
        BadLine{"--layout=TND --entry_point=u1 --head_dim_rope=8",
                "--head_dim_rope=8: accepted: 0 with entry point u1"},
        BadLine{"--layout=TND --entry_point=u3",
                "--head_dim_rope=0: accepted: 1 to 768 with entry point u3"},
        BadLine{"--entry_point=g2 --softmax_in_layout=same_as_input",
                "--softmax_in_layout=same_as_input: accepted: empty with entry point g2"},
        BadLine{"--layout=BSH --statistics_order=tokens_first",
                "--statistics_order=tokens_first: accepted: heads_first with layout BSH"},
        BadLine{"--pse_type=2 --pse_shift=N", "--pse_type=2: accepted: 1 with entry point g1"},
        BadLine{"--layout=TND --entry_point=u4 --pse_type=0", "accepted: 1 with entry point u4"},
        BadLine{"--q_start_idx=4", "--q_start_idx=4: accepted: an empty list with entry point g1"},
        BadLine{"--layout=TND --entry_point=u1 --kv_start_idx=4,2x5",
                "--kv_start_idx=4,2x5: accepted: an empty list with entry point u1"}));

INSTANTIATE_TEST_SUITE_P(
    Shapes, CaseRefuses,
    testing::Values(
        BadLine{"--layout=TND --entry_point=u1 --atten_mask=compressed",
                "accepted: none, SS, 11SS, B1SS, BNSS with sparse_mode 0 and layout TND"},
        BadLine{"--entry_point=g2 --pse_type=2 --pse_shift=N --slope_dtype=fp16",
                "--slope_dtype=fp16: accepted: fp32, or dtype, which is bf16"},
        BadLine{"--batch=2 --atten_mask=SS --sparse_mode=5 --prefix=2x3",
                "--atten_mask=SS: accepted: none, B1SS, BNSS with sparse_mode 5 and prefixes of "
                "batch 2"},
        BadLine{"--atten_mask=SS --sparse_mode=7",
                "--atten_mask=SS: accepted: none, compressed, compressed_11SS, compressed_B1SS, "
                "compressed_BNSS with sparse_mode 7"},
        BadLine{"--batch=2 --atten_mask=BNSS --sparse_mode=5 --prefix=3",
                "--prefix=3: accepted: one number per sequence; batch is 2; given: 1"},
        BadLine{"--atten_mask=compressed --sparse_mode=6",
                "--sparse_mode=6 needs a prefix for each sequence: add --prefix=1, one "
                "number per sequence"},
        BadLine{"--pse_shift=N", "--pse_shift=N: accepted: none, BNSS, BN1S, 1NSS with pse_type 1"},
        BadLine{"--entry_point=g2 --pse_type=3 --pse_shift=BNSS",
                "--pse_shift=BNSS: accepted: none, N, BN with pse_type 3"},
        BadLine{"--pse_shift=1NHS --seq_q=1023 --seq_kv=1023",
                "--pse_shift=1NHS: accepted: none, BNSS, BN1S, 1NSS with pse_type 1 and layout "
                "BNSD, seq_q 1023 and seq_kv 1023"},
        BadLine{"--layout=TND --entry_point=u1 --pse_shift=N",
                "accepted: none, BNSS, BN1S, 1NSS, BNHS, 1NHS, packed_BN1S, packed_BNSS with "
                "pse_type 1 "
                "and layout TND"},
        BadLine{"--layout=TND --entry_point=u1 --seq_q=1024 --seq_kv=2000 --pse_shift=BNHS",
                "--pse_shift=BNHS: did you mean 'BNSS'? accepted: none, BNSS, BN1S, 1NSS, "
                "packed_BN1S, packed_BNSS with "
                "pse_type 1 and layout TND, seq_q 1024 and seq_kv 2000"}));

INSTANTIATE_TEST_SUITE_P(
    Lists, CaseRefuses,
    testing::Values(
        BadLine{"--lengths_q=3,4", "--lengths_q=3,4: accepted: an empty list with layout BNSD"},
        BadLine{"--layout=TND --entry_point=u1 --lengths_q=3,4 --lengths_kv=3,4,5",
                "--lengths_kv=3,4,5: accepted: the same number of lengths as in lengths_q, which "
                "has 2; lengths_kv has 3"},
        BadLine{"--layout=TND --entry_point=u1 --batch=3 --lengths_q=3,4",
                "--batch=3: accepted: 2, which --lengths_q implies; leave it out"},
        BadLine{"--layout=TND --entry_point=u1 --seq_kv=5 --lengths_kv=3,4",
                "--seq_kv=5: accepted: 4, which --lengths_kv implies; leave it out"},
        BadLine{"--layout=TND --entry_point=u1 --lengths_q=3,-1",
                "--lengths_q=3,-1: accepted: up to 4096 numbers or COUNTxNUMBER between commas, "
                "each 0 to 1048576"},
        BadLine{"--layout=TND --entry_point=u1 --lengths_q=3,", "--lengths_q=3,: accepted: up to"},
        BadLine{"--layout=TND --entry_point=u1 --lengths_q=,3", "--lengths_q=,3: accepted: up to"},
        BadLine{"--layout=TND --entry_point=u1 --lengths_q=0x3",
                "--lengths_q=0x3: accepted: up to"},
        BadLine{"--layout=TND --entry_point=u1 --lengths_q=x3", "--lengths_q=x3: accepted: up to"},
        BadLine{"--layout=TND --entry_point=u1 --lengths_q=4097x3", "4097x3: accepted: up to 4096"},
        BadLine{"--layout=TND --entry_point=u1 --lengths_q=4000x3,97x2", "accepted: up to 4096"}));

TEST(Case, LinesOfEveryFeatureAreAccepted) {
  const std::string padded = "--batch=2 --seq_q=1100 --seq_kv=1100 ", packed = "--layout=TND ";
  for (const std::string& line :
       {padded + "--sparse_mode=5 --prefix=2x7 --atten_mask=B1SS",
        padded + "--sparse_mode=5 --atten_mask=SS",
        padded + "--entry_point=g2 --pse_type=2 --pse_shift=N --slope_dtype=bf16",
        packed + "--entry_point=u1 --lengths_q=3,5 --lengths_kv=4,6 --sparse_mode=5 --prefix=2,3 "
                 "--atten_mask=B1SS",
        padded + "--sparse_mode=6 --prefix=3,900 --atten_mask=compressed",
        padded + "--pse_shift=BN1S --keep_prob=0.9 --drop_mask=granules --drop=last_bits",
        padded + "--entry_point=g2 --pse_type=0 --pse_shift=1NHS --sparse_mode=2 "
                 "--atten_mask=compressed",
        padded + "--entry_point=g2 --pse_type=3 --pse_shift=BN --q_start_idx=5 --kv_start_idx=5",
        packed + "--entry_point=u1 --lengths_q=3,0,5 --lengths_kv=4,2,0 --atten_mask=SS",
        packed + "--entry_point=u1 --lengths_q=3,5 --lengths_kv=4,6 --sparse_mode=6 --prefix=2,3 "
                 "--atten_mask=compressed",
        packed + "--entry_point=u1 --lengths_q=3,5 --lengths_kv=4,6 --sparse_mode=7 "
                 "--next_tokens=-1 --atten_mask=compressed",
        packed + "--entry_point=u2 --lengths_q=3,5 --lengths_kv=3,5 --sparse_mode=8 --pse_type=2 "
                 "--pse_shift=N --atten_mask=compressed",
        packed + "--entry_point=u1 --lengths_q=3,5 --lengths_kv=4,6 --pse_shift=BNSS",
        packed + "--entry_point=u2 --lengths_q=3,5 --lengths_kv=4,6 --pse_type=0 "
                 "--pse_shift=packed_BN1S",
        packed + "--entry_point=u1 --lengths_q=3,5 --lengths_kv=4,6 --pse_shift=1NSS",
        packed + "--entry_point=u1 --lengths_q=3,5 --lengths_kv=4,6 --atten_mask=BNSS",
        packed + "--entry_point=u4 --lengths_q=3,5 --sparse_mode=1 --atten_mask=B1SS",
        packed + "--entry_point=u2 --lengths_q=3,5 --sparse_mode=8 --atten_mask=compressed_BNSS",
        padded + "--sparse_mode=3 --atten_mask=compressed_11SS",
        padded + "--sparse_mode=6 --prefix=3,900 --atten_mask=compressed_B1SS",
        packed + "--entry_point=u3 --lengths_q=3,5 --head_dim_rope=8 --atten_mask=SS",
        packed +
            "--entry_point=u4 --lengths_q=3,5 --softmax_in_layout=same_as_input --keep_prob=0.5 "
            "--drop_mask=exact"})
    EXPECT_EQ(refusal(line), "accepted") << line;
}

TEST(Case, LengthsImplyTheExtents) {
  const FlashCase c = parse("--layout=TND --entry_point=u1 --lengths_q=3,2x512 --lengths_kv=3x600");
  EXPECT_EQ(c.problem.lengths_q, (std::vector<std::int64_t>{3, 512, 512}));
  EXPECT_TRUE(c.problem.lengths_kv.empty()) << "equal lengths must be written as seq_kv only";
  EXPECT_EQ(c.problem.batch, 3);
  EXPECT_EQ(c.problem.seq_q, 512);
  EXPECT_EQ(c.problem.seq_kv, 600);
  EXPECT_EQ(command_line(c),
            "flash_attention_score_grad --layout=TND --seq_kv=600 --lengths_q=3,2x512 "
            "--entry_point=u1");
  EXPECT_EQ(parse(command_line(c)), c);
}

TEST(Case, ManyEqualLengthsAreOneShortLine) {
  const FlashCase c =
      parse("--layout=TND --entry_point=u1 --lengths_q=2048x512 --lengths_kv=2048x512 --rows=2");
  EXPECT_EQ(command_line(c),
            "flash_attention_score_grad --layout=TND --batch=2048 --seq_q=512 --seq_kv=512 "
            "--entry_point=u1 --rows=2");
  EXPECT_EQ(parse(command_line(c)), c);
}

TEST(Case, LargestCasesFitIntoMemory) {
  Op::Problem packed = {.input_layout = spec::Layout::tnd,
                        .batch = 2048,
                        .seq_q = 512,
                        .seq_kv = 512,
                        .head_dim = 64,
                        .head_dim_v = 64};
  const double gib = 1024.0 * 1024 * 1024;
  EXPECT_LT(flash::memory_estimate(packed), 8 * gib);
  EXPECT_GT(flash::memory_estimate(packed), 3 * gib)
      << "expected two copies of the inputs, three of the outputs, and attention_in in double";
  Op::Problem lengths = packed;
  lengths.lengths_q.assign(2048, 512), lengths.lengths_kv.assign(2048, 512);
  EXPECT_EQ(flash::memory_estimate(packed), flash::memory_estimate(lengths));
  EXPECT_EQ(refusal("--seq_q=131072 --seq_kv=131072 --head_dim=64 --head_dim_v=64 "
                    "--sparse_mode=3 --atten_mask=compressed --rows=4"),
            "accepted");
}

TEST(Case, MemoryCountsEveryTensor) {
  const Op::Problem plain = {.batch = 2, .seq_q = 1024, .seq_kv = 1024};
  const auto more = [&](auto&& change) {
    Op::Problem p = plain;
    change(p);
    return flash::memory_estimate(p) - flash::memory_estimate(plain);
  };
  const double scores = 2 * 1024 * 1024;
  EXPECT_GE(more([](auto& p) { p.atten_mask = spec::MaskShape::b_one_ss; }), scores);
  EXPECT_GE(more([](auto& p) { p.pse_shift = spec::PseShape::bnss; }), 2 * scores);
  EXPECT_GE(more([](auto& p) { p.drop_mask = spec::DropMask::exact; }), scores / 8);
  EXPECT_GE(more([](auto& p) { p.head_dim_rope = 8; }), 2 * 2 * 1024 * 8 * 4);
}

/// A reserved tensor is part of the call, although the computation does not use it.
TEST(Case, AVariantIsPartOfTheCallAndOfTheLine) {
  const FlashCase c = parse("--layout=TND --entry_point=u1 --variant=FAG-C29:padding_mask_uint8");
  EXPECT_TRUE(command_line(c).ends_with("--variant=FAG-C29:padding_mask_uint8"));
  EXPECT_EQ(call_of(c).parameters.padding_mask.shape, (spec::Shape{1, 1, 8, 8}));
  FlashCase plain = c;
  plain.variant.clear();
  EXPECT_FALSE(call_of(plain).parameters.padding_mask.present);
  EXPECT_EQ(c.problem, plain.problem);
}

TEST(Case, TensorsThatNoIndexCanNumberAreRefused) {
  EXPECT_NE(refusal("--batch=2097152 --heads_q=256 --seq_q=1048576 --seq_kv=1048576 "
                    "--atten_mask=BNSS --sparse_mode=1 --track=arguments")
                .find("about 5.9e+20 elements; 64-bit indices allow at most 2^59 (5.76e+17)"),
            std::string::npos);
}

TEST(Case, ExtentsWithoutNumbersAreNotLimitedByMemory) {
  EXPECT_EQ(refusal("--heads_q=256 --seq_q=1048576 --head_dim=512 --track=arguments"), "accepted");
}

}  // namespace
}  // namespace assay::conformance
