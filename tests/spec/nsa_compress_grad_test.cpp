#include "assay/spec/operators/nsa_compress_grad.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <ostream>

#include "operators/nsa_compress_grad/table.hpp"
#include "table_checks.hpp"

namespace assay::spec {
namespace {

using Op = NsaCompressGrad;
using Problem = Op::Problem;

struct Asked {
  Problem problem;
  Product product = Product::a2;
  Striding inputs = Striding::contiguous, outputs = Striding::contiguous;

  Call<Op> call() const {
    return call_of(problem, CompressEntryPoint::c1, product, inputs, outputs);
  }
};

void showValue(const Asked& asked, std::ostream& out) {
  out << to_string(asked.inputs) << ' ' << to_string(asked.outputs);
  show_fields(asked.problem, out);
}

rc::Gen<Asked> legal_call() {
  return rc::gen::exec([] {
    Problem p;
    p.dtype = *rc::gen::element(DType::fp16, DType::bf16);
    p.batch = integer(1, 5);
    p.heads = integer(1, 8);
    p.head_dim = 16 * integer(1, 4);
    p.compress_block_size = 16 * integer(2, 8);
    p.compress_stride = 16 * integer(1, p.compress_block_size / 16 - 1);
    for (std::int64_t b = 0; b < p.batch; ++b)
      p.lengths.push_back(integer(0, 2) == 0 ? 0 : integer(0, 3 * p.compress_block_size));
    p.lengths[static_cast<std::size_t>(integer(0, p.batch - 1))] += p.compress_block_size;
    p.seq = std::ranges::max(p.lengths);
    if (std::ranges::min(p.lengths) == p.seq) p.lengths.clear();
    return Asked{p, *rc::gen::element(Product::a2, Product::a3),
                 spellings_of<Striding>.entries[static_cast<std::size_t>(integer(0, 2))].first,
                 spellings_of<Striding>.entries[static_cast<std::size_t>(integer(0, 2))].first};
  });
}

std::vector<Call<Op>> plain_calls() {
  const Problem ragged{.batch = 4, .heads = 3, .seq = 100, .lengths = {0, 31, 100, 48}};
  return {Asked{.problem = {}}.call(), Asked{.problem = ragged}.call(),
          Asked{.problem = ragged, .inputs = Striding::padded}.call(),
          Asked{.problem = {.head_dim = 24}}.call(), Asked{.problem = {.heads = 129}}.call()};
}

TEST(CompressConstraints, IdsAreUniqueAndInOrder) { expect_ids_in_order<Op>(); }

TEST(CompressConstraints, EveryRowSaysSomethingAndNamesItsSource) {
  expect_statements_and_sources<Op>("aclnnNsaCompressGrad.md");
}

TEST(CompressConstraints, EveryRowHasASideAndWhatThatSideNeeds) {
  expect_sides_and_what_they_need<Op>();
}

TEST(CompressConstraints, EveryRowOfTheSpecificationIsThere) {
  expect_exactly_the_ids<Op>("NSAC-C", 24,
                             {"NSAC-C01a", "NSAC-C01b", "NSAC-C06a", "NSAC-C09a", "NSAC-C11a",
                              "NSAC-C12a", "NSAC-C13a", "NSAC-C14a", "NSAC-C24a"});
}

TEST(CompressConstraints, EveryContradictionIsANoteOfSomeRow) {
  expect_contradictions_in_notes<Op>("NSAC-Q", 15);
}

TEST(CompressConstraints, TheContestedReadingsAreDisputed) {
  Ids disputed;
  for (const auto& row : Op::requirements())
    if (row.standing == Standing::disputed) disputed.insert(row.id);
  EXPECT_EQ(disputed, (Ids{"NSAC-C09a", "NSAC-C11a", "NSAC-C14a", "NSAC-C21"}));
}

TEST(CompressConstraints, WhatThePageForbidsAndTheVendorAcceptsIsOpen) {
  Ids open;
  for (const auto& row : Op::requirements())
    if (row.standing == Standing::open) open.insert(row.id);
  EXPECT_EQ(open, (Ids{"NSAC-C12a", "NSAC-C13a"}));
  // The page does not limit this size, so every value is allowed.
  EXPECT_EQ(broken_by(Asked{.problem = {.head_dim = 24}}.call()), Ids{});
  EXPECT_EQ(broken_by(Asked{.problem = {.heads = 129}}.call()), Ids{});
}

/// With actSeqLenType 1 the array holds lengths.
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

/// A requirement is "documented" if the page states it, "derived" if it follows from the page, and
/// "upstream" if only the repository states it.
TEST(CompressConstraints, StandingsAreThoseOfThePage) {
  const Ids upstream = {"NSAC-C06a", "NSAC-C15", "NSAC-C24a"};
  const Ids derived = {"NSAC-C03", "NSAC-C14", "NSAC-C16", "NSAC-C19", "NSAC-C20"};
  for (const auto& row : Op::requirements()) {
    EXPECT_EQ(row.standing == Standing::upstream, upstream.contains(row.id)) << row.id;
    EXPECT_EQ(row.standing == Standing::derived, derived.contains(row.id)) << row.id;
  }
}

/// Every excluded value must violate a requirement. It may violate another requirement, too.
TEST(CompressConstraints, SizesOfNoWindowBreakWhatThePageSays) {
  Call<Op> call = Asked{.problem = {}}.call();
  call.attributes.compress_block_size = 0;
  EXPECT_EQ(broken_by(call), (Ids{"NSAC-C08", "NSAC-C12"}));
  EXPECT_EQ(broken_by(Asked{.problem = {.compress_stride = 32}}.call()), Ids{"NSAC-C12a"});
  EXPECT_EQ(broken_by(Asked{.problem = {.head_dim = 0}}.call()), Ids{"NSAC-C21"});
  EXPECT_EQ(broken_by(Asked{.problem = {.seq = 31}}.call()), Ids{"NSAC-C21"});
}

TEST(CompressConstraints, DocumentedCodesAreThoseOfTheSpecification) {
  const std::set<std::string_view> invalid = {"NSAC-C04", "NSAC-C08", "NSAC-C09"};
  for (const auto& row : Op::requirements()) {
    EXPECT_EQ(row.status.any, row.id != "NSAC-C02" && !invalid.contains(row.id)) << row.id;
    if (invalid.contains(row.id)) {
      EXPECT_EQ(row.status.code, Status::param_invalid) << row.id;
    }
  }
  EXPECT_EQ(requirement_of<Op>("NSAC-C02").status.code, Status::param_nullptr);
}

TEST(CompressConstraints, EveryViolationWorksAloneInSomePlainCall) {
  expect_every_violation_to_work_alone(plain_calls());
}

RC_GTEST_PROP(CompressConstraints, AViolationBreaksItsRowAndOnlyWhatItImplies, ()) {
  assert_violations_break_their_rows_alone((*legal_call()).call());
}

RC_GTEST_PROP(CompressConstraints, ALegalCallBreaksNoRow, ()) {
  const Ids ids = broken_by((*legal_call()).call());
  if (!ids.empty()) RC_FAIL(listed(ids));
}

RC_GTEST_PROP(CompressConstraints, ALegalCallIsLegalInEveryVariant, ()) {
  assert_variants_are_legal((*legal_call()).call());
}

TEST(CompressConstraints, EveryAcceptSideIsReachedByALegalCall) {
  expect_every_accept_side_reached(plain_calls());
}

TEST(CompressConstraints, AnEmptyCallBreaksPresenceRowsWithoutACrash) {
  expect_an_empty_call_to_be_survived<Op>(CompressEntryPoint::c1, {"NSAC-C02"});
}

TEST(CompressConstraints, ProductsSupportWhatTheirRowsAccept) {
  expect_products<Op>(CompressEntryPoint::c1);
}

RC_GTEST_PROP(CompressRows, LegalCallGivesBackItsProblem, ()) {
  Asked asked = *legal_call();
  const auto problem = nsa::problem_of(asked.call());
  RC_ASSERT(problem.has_value());
  RC_ASSERT(*problem == asked.problem);
}

/// The table in section 2.8 of the specification: cumulative lengths, window size, stride, number
/// of windows.
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

/// The call of the page's example.
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
