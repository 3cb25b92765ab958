#include "assay/spec/operators/nsa_selected_attention_grad.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <ostream>

#include "assay/spec/operators/nsa_compress_grad.hpp"
#include "operators/nsa_selected_attention_grad/table.hpp"
#include "table_checks.hpp"

namespace assay::spec {
namespace {

using Op = NsaSelectedAttentionGrad;
using Problem = Op::Problem;

struct Asked {
  Problem problem;
  Product product = Product::a2;
  Striding inputs = Striding::contiguous, outputs = Striding::contiguous;

  Call<Op> call() const {
    return call_of(problem, SelectedEntryPoint::s1, product, inputs, outputs);
  }
};

void showValue(const Asked& asked, std::ostream& out) {
  out << to_string(asked.inputs) << ' ' << to_string(asked.outputs);
  show_fields(asked.problem, out);
}

/// Returns random sequence lengths, which are multiples of `unit`, and the longest length. The list
/// of lengths is empty if all are equal.
std::pair<std::vector<std::int64_t>, std::int64_t> some_lengths(std::int64_t batch,
                                                                std::int64_t least,
                                                                std::int64_t unit) {
  std::vector<std::int64_t> lengths;
  for (std::int64_t b = 0; b < batch; ++b) lengths.push_back(unit * integer(least, least + 5));
  const std::int64_t longest = std::ranges::max(lengths);
  if (std::ranges::min(lengths) == longest) lengths.clear();
  return {lengths, longest};
}

rc::Gen<Asked> legal_call() {
  return rc::gen::exec([] {
    Problem p;
    p.dtype = *rc::gen::element(DType::fp16, DType::bf16);
    p.batch = integer(1, 4);
    p.heads_kv = integer(1, 4);
    p.heads_q = p.heads_kv * integer(1, 32);
    p.head_dim = *rc::gen::element<std::int64_t>(192, 128);
    p.head_dim_v = p.head_dim == 192 ? *rc::gen::element<std::int64_t>(192, 128) : 128;
    p.selected_block_size = 16 * integer(1, 8);
    p.selected_block_count = integer(1, 32);
    std::tie(p.lengths_q, p.seq_q) = some_lengths(p.batch, 1, 1);
    std::tie(p.lengths_kv, p.seq_kv) =
        some_lengths(p.batch, p.selected_block_count, p.selected_block_size);
    p.atten_mask = *rc::gen::element(SelectedMask::absent, SelectedMask::compressed);
    if (p.atten_mask == SelectedMask::compressed) p.sparse_mode = 2 * integer(0, 1);
    return Asked{p, *rc::gen::element(Product::a2, Product::a3),
                 spellings_of<Striding>.entries[static_cast<std::size_t>(integer(0, 2))].first,
                 spellings_of<Striding>.entries[static_cast<std::size_t>(integer(0, 2))].first};
  });
}

std::vector<Asked> plain() {
  const Problem ragged{.batch = 3,
                       .heads_q = 4,
                       .heads_kv = 2,
                       .seq_q = 9,
                       .seq_kv = 64,
                       .lengths_q = {1, 9, 3},
                       .lengths_kv = {48, 32, 64}};
  const Problem causal{
      .seq_q = 5, .seq_kv = 64, .sparse_mode = 2, .atten_mask = SelectedMask::compressed};
  return {{.problem = {}},
          {.problem = ragged},
          {.problem = causal},
          {.problem = ragged, .inputs = Striding::padded},
          {.problem = {.head_dim = 128, .head_dim_v = 192}},
          {.problem = {.seq_kv = 16 * 33, .selected_block_count = 33}},
          {.problem = {.atten_mask = SelectedMask::compressed, .mask_dtype = DType::uint8}}};
}

std::vector<Call<Op>> plain_calls() {
  std::vector<Call<Op>> calls;
  for (const Asked& asked : plain()) calls.push_back(asked.call());
  return calls;
}

TEST(SelectedConstraints, AreACompleteTable) {
  expect_a_complete_table<Op>("aclnnNsaSelectedAttentionGrad.md",
                              {"NSAS-C02", "NSAS-C03", "NSAS-C14"}, plain_calls());
}

TEST(SelectedConstraints, EveryRowOfTheSpecificationIsThere) {
  expect_exactly_the_ids<Op>(
      "NSAS-C", 44,
      {"NSAS-C01a", "NSAS-C01b", "NSAS-C07a", "NSAS-C08a", "NSAS-C10a", "NSAS-C10b", "NSAS-C10c",
       "NSAS-C12a", "NSAS-C17a", "NSAS-C33a", "NSAS-C33b", "NSAS-C35a", "NSAS-C36a", "NSAS-C42a"});
}

TEST(SelectedConstraints, EveryContradictionIsANoteOfSomeRow) {
  expect_contradictions_in_notes<Op>("NSAS-Q", 21);
}

TEST(SelectedConstraints, CallsThatThePageOffersAreLegal) {
  EXPECT_EQ(broken_by(Asked{.problem = {.head_dim = 128, .head_dim_v = 192}}.call()), Ids{});
  Call<Op> bytes =
      Asked{.problem = {.sparse_mode = 2, .atten_mask = SelectedMask::compressed}}.call();
  bytes.parameters.atten_mask.dtype = DType::uint8;
  EXPECT_EQ(broken_by(bytes), Ids{});
  EXPECT_EQ(
      broken_by(Asked{
          .problem = {.seq_kv = 16 * 33, .selected_block_size = 16, .selected_block_count = 33}}
                    .call()),
      Ids{});
}

/// The standing of a requirement says where it comes from: "documented" if the documentation states
/// it, "derived" if it follows from the documentation, and "upstream" if only the vendor's code
/// states it.
TEST(SelectedConstraints, StandingsAreThoseOfThePage) {
  EXPECT_EQ(standing_as<Op>(Standing::disputed), (Ids{"NSAS-C12a", "NSAS-C33a", "NSAS-C44"}));
  EXPECT_EQ(standing_as<Op>(Standing::open), (Ids{"NSAS-C29", "NSAS-C36a"}));
  EXPECT_EQ(standing_as<Op>(Standing::upstream),
            (Ids{"NSAS-C08a", "NSAS-C09", "NSAS-C14", "NSAS-C17a", "NSAS-C19", "NSAS-C34",
                 "NSAS-C35", "NSAS-C40", "NSAS-C42a"}));
  EXPECT_EQ(standing_as<Op>(Standing::derived),
            (Ids{"NSAS-C10c", "NSAS-C15", "NSAS-C35a", "NSAS-C37", "NSAS-C38", "NSAS-C39"}));
}

/// Every excluded value must violate a requirement, and may violate another one, too.
TEST(SelectedConstraints, ZerosAndSizesBeyondEveryProductBreakWhatThePageSays) {
  Call<Op> no_heads = Asked{.problem = {.heads_q = 0, .heads_kv = 0}}.call();
  EXPECT_TRUE(broken_by(no_heads).contains("NSAS-C25"));
  EXPECT_TRUE(broken_by(no_heads).contains("NSAS-C26"));
  EXPECT_TRUE(broken_by(Asked{.problem = {.head_dim = 0}}.call()).contains("NSAS-C21"));
  Call<Op> call = Asked{.problem = {.batch = 2}}.call();
  call.parameters.actual_seq_qlen = {0, 32};
  EXPECT_TRUE(broken_by(call).contains("NSAS-C28"));
  call = Asked{.problem = {.selected_block_count = std::int64_t{1} << 60}}.call();
  EXPECT_TRUE(broken_by(call).contains("NSAS-C29"));
  call = Asked{.problem = {}}.call();
  call.attributes.selected_block_size = 0;
  EXPECT_TRUE(broken_by(call).contains("NSAS-C30"));
  call.parameters.actual_seq_qlen.emplace();
  EXPECT_TRUE(broken_by(call).contains("NSAS-C24"));
}

TEST(SelectedConstraints, DocumentedCodesAreThoseOfTheSpecification) {
  EXPECT_EQ(refused_with<Op>(Status::param_nullptr), (Ids{"NSAS-C02", "NSAS-C03"}));
  EXPECT_EQ(refused_with<Op>(Status::param_invalid),
            (Ids{"NSAS-C04", "NSAS-C05", "NSAS-C07", "NSAS-C08", "NSAS-C10"}));
}

RC_GTEST_PROP(SelectedConstraints, ALegalCallBreaksNoRowAndEachViolationItsOwn, ()) {
  const Asked asked = *legal_call();
  assert_legal_in_itself_and_in_variants(asked.call());
  RC_ASSERT(nsa::selection::problem_of(asked.call()) == asked.problem);
}

TEST(SelectedConstraints, SizesAreLegalUpToTheirLimits) {
  const Problem heads{.heads_q = 128, .heads_kv = 128};
  const Problem group{.heads_q = 128, .heads_kv = 4};
  const Problem blocks{.seq_kv = 128 * 32, .selected_block_size = 128, .selected_block_count = 32};
  const Problem longest{.seq_q = 128'000, .seq_kv = 128'000};
  const Problem most_tokens{.batch = 20, .seq_q = 100'000, .seq_kv = 100'000};
  const Problem exactly_enough_keys{.seq_kv = 32};
  for (const Problem& p : {heads, group, blocks, longest, most_tokens, exactly_enough_keys})
    EXPECT_EQ(broken_by(Asked{.problem = p}.call()), Ids{});
  // In the documentation, K and M may mean powers of 1000 or of 1024. The first size lies between
  // the two meanings, the second exceeds both.
  const Problem in_between{.seq_q = 128 * 1024, .seq_kv = 128 * 1024};
  EXPECT_EQ(broken_by(Asked{.problem = in_between}.call()), Ids{"NSAS-C44"});
  const Problem beyond{.seq_q = 128 * 1024 + 1, .seq_kv = 128'000};
  EXPECT_EQ(broken_by(Asked{.problem = beyond}.call()), Ids{"NSAS-C28"});
}

/// The call of the example program in the documentation. Its tensors have a format that kernels
/// must accept (not a private one).
TEST(SelectedConstraints, TheExampleOfThePageIsLegal) {
  const Problem example{.dtype = DType::fp16,
                        .seq_q = 1,
                        .seq_kv = 1024,
                        .head_dim_v = 192,
                        .scale_value = 1.0,
                        .selected_block_size = 64,
                        .selected_block_count = 16};
  Call<Op> call = Asked{.problem = example}.call();
  call.parameters.query.format = call.parameters.topk_indices.format = Format::nchw;
  EXPECT_EQ(broken_by(call), Ids{});
  EXPECT_EQ(call.parameters.topk_indices.shape, (Shape{1, 1, 16}));
  EXPECT_EQ(call.parameters.softmax_max.shape, (Shape{1, 1, 8}));
  EXPECT_EQ(call.parameters.actual_seq_kvlen, (std::vector<std::int64_t>{1024}));
}

template <class Problem>
std::set<std::string_view> field_names() {
  std::set<std::string_view> names;
  Problem problem;
  visit_fields(problem, [&](std::string_view name, auto&, std::string_view meaning) {
    EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_FALSE(meaning.empty()) << name;
  });
  return names;
}

TEST(NsaProblems, ListTheirOwnFieldsAfterThoseOfOtherOperators) {
  EXPECT_EQ(field_names<Problem>().size(), 16u);
  EXPECT_EQ(field_names<NsaCompressGrad::Problem>().size(), 8u);
  EXPECT_TRUE(field_names<FlashAttentionScoreGrad::Problem>().contains("pse_type"));
  EXPECT_FALSE(field_names<Problem>().contains("pse_type"));
}

TEST(SelectedProblem, ShapesFollowTheLengths) {
  const Problem p = plain()[1].problem;
  const Call<Op> call = Asked{.problem = p}.call();
  EXPECT_EQ(call.parameters.query.shape, (Shape{13, 4, 192}));
  EXPECT_EQ(call.parameters.value.shape, (Shape{144, 2, 128}));
  EXPECT_EQ(call.parameters.attention_out_grad.shape, (Shape{13, 4, 128}));
  EXPECT_EQ(call.parameters.topk_indices.shape, (Shape{13, 2, 2}));
  EXPECT_EQ(call.parameters.topk_indices.dtype, DType::int32);
  EXPECT_EQ(call.parameters.actual_seq_qlen, (std::vector<std::int64_t>{1, 10, 13}));
  EXPECT_EQ(call.parameters.actual_seq_kvlen, (std::vector<std::int64_t>{48, 80, 144}));
  EXPECT_EQ(call.attributes.head_num, 4);
  EXPECT_THROW(mask_shape(p), std::invalid_argument);
}

}  // namespace
}  // namespace assay::spec
