#include "assay/spec/operators/nsa_compress_grad.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "compression_checks.hpp"

namespace assay::spec {
namespace {

using Op = NsaCompressGrad;
using Problem = Op::Problem;

using Asked = CompressionAsked<Op>;

std::vector<Call<Op>> plain_calls() {
  const Problem ragged = ragged_compression();
  return {Asked{.problem = {}}.call(), Asked{.problem = ragged}.call(),
          Asked{.problem = ragged, .inputs = Striding::padded}.call(),
          Asked{.problem = {.head_dim = 24}}.call(), Asked{.problem = {.heads = 129}}.call()};
}

TEST(CompressConstraints, AreACompleteTable) {
  expect_a_complete_table<Op>("aclnnNsaCompressGrad.md", {"NSAC-C02"}, plain_calls());
}

TEST(CompressConstraints, EveryRowOfTheSpecificationIsThere) {
  expect_exactly_the_ids<Op>("NSAC-C", 24,
                             {"NSAC-C01a", "NSAC-C01b", "NSAC-C06a", "NSAC-C09a", "NSAC-C11a",
                              "NSAC-C12a", "NSAC-C13a", "NSAC-C14a", "NSAC-C24a"});
}

TEST(CompressConstraints, EveryContradictionIsANoteOfSomeRow) {
  expect_contradictions_in_notes<Op>("NSAC-Q", 15);
}

/// The standing of a requirement says where it comes from: "documented" if the documentation states
/// it, "derived" if it follows from the documentation, and "upstream" if only the vendor's code
/// states it.
TEST(CompressConstraints, StandingsAreThoseOfThePage) {
  EXPECT_EQ(standing_as<Op>(Standing::disputed),
            (Ids{"NSAC-C09a", "NSAC-C11a", "NSAC-C14a", "NSAC-C21"}));
  EXPECT_EQ(standing_as<Op>(Standing::open), (Ids{"NSAC-C12a", "NSAC-C13a"}));
  EXPECT_EQ(standing_as<Op>(Standing::upstream), (Ids{"NSAC-C06a", "NSAC-C15", "NSAC-C24a"}));
  EXPECT_EQ(standing_as<Op>(Standing::derived),
            (Ids{"NSAC-C03", "NSAC-C14", "NSAC-C16", "NSAC-C19", "NSAC-C20"}));
  // The documentation does not limit this size, so every value is allowed.
  EXPECT_EQ(broken_by(Asked{.problem = {.head_dim = 24}}.call()), Ids{});
  EXPECT_EQ(broken_by(Asked{.problem = {.heads = 129}}.call()), Ids{});
}

/// With actSeqLenType 1 the array contains the lengths instead of their cumulative sums.
TEST(CompressConstraints, LengthsInPlaceOfSumsBreakTheirTypeAlone) {
  Call<Op> call = Asked{.problem = {.batch = 3, .seq = 100, .lengths = {40, 100, 0}}}.call();
  EXPECT_EQ(call.parameters.act_seq_len, (std::vector<std::int64_t>{40, 140, 140}));
  call.attributes.act_seq_len_type = 1;
  call.parameters.act_seq_len = {40, 100, 0};
  EXPECT_EQ(broken_by(call), Ids{"NSAC-C13a"});
  call.parameters.act_seq_len = {40, 140, 140};
  EXPECT_EQ(broken_by(call), (Ids{"NSAC-C13a", "NSAC-C15"}));
  call.parameters.act_seq_len = {40, -1, 101};
  EXPECT_TRUE(broken_by(call).contains("NSAC-C14"));
}

/// Every excluded value must violate a requirement, and may violate another one, too.
TEST(CompressConstraints, SizesOfNoWindowBreakWhatThePageSays) {
  Call<Op> call = Asked{.problem = {}}.call();
  call.attributes.compress_block_size = 0;
  EXPECT_EQ(broken_by(call), (Ids{"NSAC-C08", "NSAC-C12"}));
  EXPECT_EQ(broken_by(Asked{.problem = {.compress_stride = 32}}.call()), Ids{"NSAC-C12a"});
  EXPECT_EQ(broken_by(Asked{.problem = {.head_dim = 0}}.call()), Ids{"NSAC-C21"});
  EXPECT_EQ(broken_by(Asked{.problem = {.seq = 31}}.call()), Ids{"NSAC-C21"});
}

TEST(CompressConstraints, DocumentedCodesAreThoseOfTheSpecification) {
  EXPECT_EQ(refused_with<Op>(Status::param_nullptr), Ids{"NSAC-C02"});
  EXPECT_EQ(refused_with<Op>(Status::param_invalid), (Ids{"NSAC-C04", "NSAC-C08", "NSAC-C09"}));
}

RC_GTEST_PROP(CompressConstraints, ALegalCallBreaksNoRowAndEachViolationItsOwn, ()) {
  assert_a_legal_call(legal_compression<Op>(16));
}

/// Each line contains: cumulative lengths, window size, stride, number of windows in each sequence.
TEST(CompressProblem, WindowsAreThoseOfTheSpecification) {
  struct Listed {
    std::vector<std::int64_t> sums;
    std::int64_t size, stride, windows;
  };
  const std::vector<Listed> table = {
      {{0, 128, 272}, 32, 16, 15}, {{128, 272}, 32, 16, 15}, {{0, 120, 140, 272}, 32, 16, 13},
      {{0, 5, 49}, 32, 16, 1},     {{64}, 32, 32, 2},        {{31}, 32, 16, 0},
      {{32}, 32, 16, 1},           {{47}, 32, 16, 1},        {{48}, 32, 16, 2}};
  for (const auto& [sums, size, stride, windows] : table) {
    Problem p{.batch = static_cast<std::int64_t>(sums.size()),
              .compress_block_size = size,
              .compress_stride = stride};
    std::int64_t before = 0;
    for (const std::int64_t sum : sums) {
      p.lengths.push_back(sum - before);
      before = sum;
    }
    p.seq = std::ranges::max(p.lengths);
    EXPECT_EQ(output_extents(p).tokens(), windows) << sums.back();
    EXPECT_EQ(Asked{.problem = p}.call().parameters.act_seq_len, sums);
  }
}

/// The call of the example program in the documentation.
TEST(CompressProblem, TheExampleOfThePageIsLegal) {
  const Problem example{.dtype = DType::fp16,
                        .batch = 3,
                        .heads = 64,
                        .seq = 144,
                        .lengths = {0, 128, 144},
                        .head_dim = 128};
  const Call<Op> call = Asked{.problem = example}.call();
  EXPECT_EQ(broken_by(call), Ids{});
  EXPECT_EQ(call.parameters.act_seq_len, (std::vector<std::int64_t>{0, 128, 272}));
  EXPECT_EQ(call.parameters.output_grad.shape, (Shape{15, 64, 128}));
  EXPECT_EQ(call.parameters.weight_grad.shape, (Shape{32, 64}));
}

}  // namespace
}  // namespace assay::spec
