#include <gtest/gtest.h>

#include <algorithm>

#include "trial.hpp"

namespace {

using namespace assay;
using spec::DropMask;
using spec::DType;
using spec::Layout;
using spec::MaskShape;
using spec::PseShape;
using spec::StatisticsOrder;
using spec::Striding;
using test::Example;
using test::expect_gradients;
using test::Op;

using Lengths = std::vector<std::int64_t>;

Op::Problem padded(std::int64_t seq_q, std::int64_t seq_kv) {
  return {.input_layout = Layout::bsnd,
          .dtype = DType::fp32,
          .batch = 2,
          .heads_q = 2,
          .heads_kv = 1,
          .seq_q = seq_q,
          .seq_kv = seq_kv,
          .head_dim = 8,
          .head_dim_v = 8};
}

Op::Problem packed(const Lengths& q, const Lengths& kv) {
  Op::Problem p = padded(*std::ranges::max_element(q), *std::ranges::max_element(kv));
  p.input_layout = Layout::tnd;
  p.batch = static_cast<std::int64_t>(q.size());
  p.lengths_q = q, p.lengths_kv = kv;
  return p;
}

Op::Problem compressed(Op::Problem p, std::int64_t mode) {
  p.sparse_mode = mode;
  p.atten_mask = MaskShape::compressed;
  return p;
}

/// Sequence lengths within one tile, across a tile edge, and across the edge of a group of row
/// tiles (a record). Sequences without queries or without keys are at both ends and in the middle.
const Lengths uneven_q = {0, 5, 130, 0, 21, 530, 1, 9, 0};
const Lengths uneven_kv = {7, 5, 140, 0, 0, 160, 3, 150, 2};

TEST(Packed, AgreesWithTheFormulaForUnevenLengthsAndEveryType) {
  for (const DType dtype : {DType::fp32, DType::fp16, DType::bf16}) {
    Op::Problem p = packed(uneven_q, uneven_kv);
    p.dtype = dtype;
    expect_gradients({.problem = p});
  }
}

TEST(Packed, ReadsAndWritesStridedViews) {
  for (const Striding striding : {Striding::padded, Striding::transposed})
    for (const StatisticsOrder order :
         {StatisticsOrder::heads_first, StatisticsOrder::tokens_first}) {
      Op::Problem p = compressed(packed({5, 0, 33}, {20, 4, 9}), 3);
      p.statistics_order = order;
      expect_gradients({.problem = p, .inputs = striding, .outputs = striding});
    }
}

TEST(Packed, ReadsStatisticsInBothOrders) {
  for (const StatisticsOrder order :
       {StatisticsOrder::heads_first, StatisticsOrder::tokens_first}) {
    Op::Problem p = packed({3, 0, 150, 14}, {8, 6, 9, 30});
    p.statistics_order = order;
    expect_gradients({.problem = p});
  }
}

TEST(Packed, GivesZerosToTheOtherSideOfAnEmptySequence) {
  const Example example = {.problem = packed({4, 0, 3}, {0, 5, 6}), .outputs = Striding::padded};
  const auto g = test::values(example.problem, test::run(example, test::inputs_of(example)));
  const auto zeros = [](const std::vector<double>& gradient, std::size_t count) {
    return std::ranges::all_of(gradient.begin(),
                               gradient.begin() + static_cast<std::ptrdiff_t>(count),
                               [](double x) { return x == 0; });
  };
  EXPECT_TRUE(zeros(g.dq, 4 * 2 * 8));
  EXPECT_TRUE(zeros(g.dk, 5 * 8));
  EXPECT_TRUE(zeros(g.dv, 5 * 8));
  EXPECT_FALSE(zeros(g.dq, g.dq.size()) || zeros(g.dk, g.dk.size()) || zeros(g.dv, g.dv.size()));
}

TEST(Packed, OnlyEmptySequencesGiveZeroGradients) {
  for (const auto& [q, kv] :
       {std::pair<Lengths, Lengths>{{0, 0}, {3, 0}}, {{2, 4}, {0, 0}}, {{0, 5}, {5, 0}}}) {
    const Example example = {.problem = packed(q, kv)};
    const auto g = test::values(example.problem, test::run(example, test::inputs_of(example)));
    EXPECT_GT(g.dq.size() + g.dk.size(), 0U);
    for (const auto* gradient : {&g.dq, &g.dk, &g.dv})
      for (const double x : *gradient) ASSERT_EQ(x, 0);
  }
}

TEST(Packed, FollowsTheSparseModesSequenceBySequence) {
  for (const std::int64_t mode : {2, 3, 4, 6, 7, 8}) {
    SCOPED_TRACE(mode);
    Op::Problem p = compressed(packed({0, 150, 7, 300, 5, 0}, {4, 160, 9, 280, 140, 3}), mode);
    p.pre_tokens = mode == 4 ? 40 : 300, p.next_tokens = mode >= 7 ? -2 : 20;
    if (mode == 6) p.prefix = {0, 130, 0, 200, 140, 1};
    expect_gradients({.problem = p});
  }
}

TEST(Packed, ChoosesTheBandAmongEmptySequences) {
  for (const std::int64_t mode : {7, 8}) {
    Op::Problem p = compressed(packed({0, 6, 9, 0}, {5, 10, 12, 8}), mode);
    p.pre_tokens = 3, p.next_tokens = -1;
    expect_gradients({.problem = p});
  }
}

TEST(Packed, ReadsAUserMaskOfTheLongestLengths) {
  for (const MaskShape shape : {MaskShape::ss, MaskShape::one_one_ss})
    for (const std::int64_t mode : {0, 1}) {
      Op::Problem p = packed({140, 0, 20, 3}, {12, 7, 150, 30});
      p.atten_mask = shape, p.sparse_mode = mode;
      expect_gradients({.problem = p, .excludes = [](auto, auto, std::int64_t i, std::int64_t j) {
                          return (3 * i + j) % 4 == 0;
                        }});
    }
}

TEST(Packed, ReadsAUserMaskOfEverySequenceAndHeadFromItsFirstToken) {
  for (const MaskShape shape : {MaskShape::b_one_ss, MaskShape::bnss})
    for (const Striding striding : {Striding::contiguous, Striding::transposed}) {
      Op::Problem p = packed({140, 0, 20, 3}, {12, 7, 150, 30});
      p.atten_mask = shape, p.sparse_mode = 1;
      expect_gradients(
          {.problem = p,
           .inputs = striding,
           .excludes = [](std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t j) {
             return (7 * b + 5 * n + 3 * i + j) % 4 == 0;
           }});
    }
}

TEST(Packed, ReadsTheSliceOfACompressedMaskThatBelongsToSequenceAndHead) {
  for (const auto& [shape, mode] : {std::pair{MaskShape::compressed_one_one_ss, std::int64_t{3}},
                                    {MaskShape::compressed_b_one_ss, 4},
                                    {MaskShape::compressed_bnss, 6}}) {
    Op::Problem p = compressed(packed({140, 20}, {150, 170}), mode);
    p.atten_mask = shape;
    if (mode == 4) p.pre_tokens = 30, p.next_tokens = 20;
    if (mode == 6) p.prefix = {130, 160};
    expect_gradients({.problem = p, .inputs = Striding::padded});
  }
}

TEST(Prefix, LeavesKeysAfterTheDiagonalVisible) {
  for (const auto& [sq, skv] : {std::pair{150, 150}, {130, 270}, {270, 130}})
    for (const Lengths& prefix : {Lengths{0, 1}, {127, 130}, {128, 129}}) {
      Op::Problem p = compressed(padded(sq, skv), 6);
      p.prefix = prefix;
      expect_gradients({.problem = p});
      if (sq == 150) expect_gradients({.problem = p, .inputs = Striding::transposed});
    }
}

TEST(Prefix, MayEndFurtherFromABlockThanTheStoredRowsReach) {
  Op::Problem p = compressed(padded(140, 1290), 6);
  p.heads_q = p.heads_kv = 1, p.head_dim = p.head_dim_v = 2, p.prefix = {1160, 1280};
  expect_gradients({.problem = p});
}

TEST(Prefix, ModeFiveFollowsItsMask) {
  for (const MaskShape shape : {MaskShape::b_one_ss, MaskShape::bnss}) {
    Op::Problem p = padded(140, 150);
    p.sparse_mode = 5, p.atten_mask = shape, p.prefix = {30, 145};
    expect_gradients(
        {.problem = p, .excludes = [&](std::int64_t b, auto, std::int64_t i, std::int64_t j) {
           return j >= p.prefix[static_cast<std::size_t>(b)] && j > i + 10;
         }});
  }
}

TEST(Bias, EveryPaddedShapeIsAddedBeforeOrAfterTheScale) {
  for (const PseShape shape : {PseShape::bnss, PseShape::bn1s, PseShape::one_nss})
    for (const std::int64_t type : {0, 1})
      for (const auto& [striding, dtype] : {std::pair{Striding::contiguous, DType::fp32},
                                            {Striding::padded, DType::bf16},
                                            {Striding::transposed, DType::fp16}}) {
        Op::Problem p = padded(130, 140);
        p.dtype = dtype, p.pse_type = type, p.pse_shift = shape;
        expect_gradients({.problem = p, .inputs = striding});
      }
}

TEST(Bias, SlopesGrowWithTheDistanceFromTheStartIndices) {
  for (const PseShape shape : {PseShape::slopes_n, PseShape::slopes_bn})
    for (const std::int64_t type : {2, 3})
      for (const auto& [start_q, start_kv] : {std::pair<Lengths, Lengths>{{}, {}},
                                              {{40}, {}},
                                              {{}, {40}},
                                              {{30, 7}, {5}},
                                              {{0}, {9}}}) {
        Op::Problem p = compressed(padded(150, 150), 2);
        p.dtype = start_q.empty() ? DType::fp16 : DType::fp32;
        p.pse_type = type, p.pse_shift = shape;
        p.q_start_idx = start_q, p.kv_start_idx = start_kv;
        expect_gradients({.problem = p, .inputs = Striding::padded});
      }
}

/// The rows of the bias have the length of the longest sequence, so in a shorter sequence the row
/// stride is larger than the number of keys.
TEST(Bias, BiasOfASequenceIsReadFromItsFirstToken) {
  for (const PseShape shape : {PseShape::bnss, PseShape::bn1s, PseShape::one_nss})
    for (const std::int64_t type : {0, 1}) {
      Op::Problem p = packed({5, 130, 21, 9}, {140, 7, 160, 3});
      p.pse_type = type, p.pse_shift = shape;
      expect_gradients(
          {.problem = p, .inputs = type == 0 ? Striding::contiguous : Striding::padded});
    }
}

TEST(Bias, PackedShapesFollowTheSequences) {
  for (const PseShape shape : {PseShape::packed_bnss, PseShape::packed_bn1s})
    for (const std::int64_t type : {0, 1}) {
      Op::Problem p = packed(uneven_q, uneven_kv);
      p.pse_type = type, p.pse_shift = shape;
      expect_gradients({.problem = p});
    }
}

TEST(Bias, ModeEightUsesStartIndicesOnlyInTheFirstSequence) {
  for (const std::int64_t mode : {0, 2, 8})
    for (const PseShape shape : {PseShape::slopes_n, PseShape::slopes_bn}) {
      Op::Problem p = compressed(packed({20, 140, 7}, {30, 140, 7}), mode);
      if (mode == 0) p.atten_mask = MaskShape::absent;
      p.pse_type = 3, p.pse_shift = shape;
      p.q_start_idx = {25}, p.kv_start_idx = {15};
      expect_gradients({.problem = p});
    }
}

/// The bias stores only 1024 rows, and all queries must use them correctly: the last 1024 queries,
/// the 1024 queries before them, and all earlier ones.
TEST(Bias, CompressedToItsLastRowsServesEveryQuery) {
  for (const PseShape shape : {PseShape::bnhs, PseShape::one_nhs})
    for (const std::int64_t length : {1024, 1025, 2080}) {
      // The expected gradients are computed for each pair of query and key, which takes most of
      // this test's time. So every boundary is tested only once.
      if ((length == 1025) != (shape == PseShape::bnhs)) continue;
      Op::Problem p = compressed(padded(length, length), 2);
      p.batch = p.heads_q = p.heads_kv = length == 1025 ? 2 : 1;
      p.head_dim = p.head_dim_v = 2;
      p.pse_type = 0, p.pse_shift = shape, p.next_tokens = 0;
      expect_gradients(
          {.problem = p, .inputs = length == 1025 ? Striding::padded : Striding::contiguous});
    }
}

TEST(Bias, CompressedInTndIsFoundByDistance) {
  for (const PseShape shape : {PseShape::bnhs, PseShape::one_nhs})
    for (const Lengths& lengths : {Lengths{3, 1100, 140}}) {
      Op::Problem p = compressed(packed(lengths, lengths), 3);
      p.heads_q = p.heads_kv = 1, p.head_dim = p.head_dim_v = 2;
      p.pse_shift = shape, p.next_tokens = 0;
      expect_gradients({.problem = p});
    }
}

TEST(Dropout, ReadsOneBitAScoreInOrder) {
  for (const DropMask mask : {DropMask::exact, DropMask::granules})
    for (const std::int64_t keys : {8, 13, 150})
      for (const DType dtype : {DType::fp32, DType::fp16, DType::bf16}) {
        Op::Problem p = padded(141, keys);
        p.dtype = dtype, p.drop_mask = mask, p.keep_prob = 0.7;
        expect_gradients({.problem = p});
      }
}

TEST(Dropout, CountsTheBitsOfEarlierSequences) {
  Op::Problem p = packed(uneven_q, uneven_kv);
  p.drop_mask = DropMask::exact, p.keep_prob = 0.6;
  expect_gradients({.problem = p});
  p.lengths_kv.back() = 0, p.lengths_q.front() = 3;
  expect_gradients({.problem = p});
}

TEST(Dropout, IsOffWhenEverythingIsKept) {
  Op::Problem p = padded(40, 50);
  const Example without = {.problem = p};
  const Op::Inputs inputs = test::inputs_of(without);
  p.drop_mask = DropMask::exact;
  const Example with = {.problem = p};
  Op::Inputs with_mask = inputs;
  with_mask.drop_mask = test::inputs_without_forward(with).drop_mask;
  EXPECT_TRUE(test::same_bits(test::run(without, inputs), test::run(with, with_mask)));
}

TEST(Dropout, DroppingEverythingLeavesOnlyTheRowTerm) {
  Op::Problem p = padded(20, 30);
  p.drop_mask = DropMask::exact, p.keep_prob = 0.5;
  const Example example = {.problem = p};
  Op::Inputs inputs = test::inputs_of(example);
  std::ranges::fill(inputs.drop_mask->bytes, std::byte{0});
  const auto g = test::values(p, test::run(example, inputs));
  EXPECT_TRUE(std::ranges::all_of(g.dv, [](double x) { return x == 0; }));
  EXPECT_TRUE(std::ranges::any_of(g.dq, [](double x) { return x != 0; }));
}

TEST(Rope, AddsToTheScoresAndHasItsOwnGradients) {
  for (const auto& [d, dv, dr] : {std::tuple{16, 16, 8}, {128, 128, 64}, {72, 40, 24}, {8, 8, 8}})
    for (const Striding striding : {Striding::contiguous, Striding::padded}) {
      Op::Problem p = compressed(packed({5, 0, 140, 9}, {6, 3, 150, 0}), 3);
      p.dtype = DType::bf16;
      p.head_dim = d, p.head_dim_v = dv, p.head_dim_rope = dr;
      p.scale_value = 0.125;
      expect_gradients({.problem = p, .inputs = striding, .outputs = striding});
    }
}

TEST(Rope, TakesTheLargestHeads) {
  Op::Problem p = packed({9, 4}, {12, 5});
  p.head_dim = p.head_dim_v = p.head_dim_rope = 768;
  p.scale_value = 0x1p-10;
  expect_gradients({.problem = p});
}

TEST(Family, TakesEverythingAtOnce) {
  Op::Problem p = compressed(packed({150, 3, 0, 260}, {150, 3, 0, 260}), 8);
  p.pre_tokens = 200, p.next_tokens = 5;
  p.pse_type = 2, p.pse_shift = PseShape::slopes_bn;
  p.q_start_idx = {4}, p.kv_start_idx = {4};
  p.drop_mask = DropMask::granules, p.keep_prob = 0.8;
  p.head_dim_rope = 8;
  p.statistics_order = StatisticsOrder::tokens_first;
  expect_gradients({.problem = p, .inputs = Striding::padded, .outputs = Striding::transposed});
}

}  // namespace
