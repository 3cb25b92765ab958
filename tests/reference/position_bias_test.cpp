#include "assay/reference/position_bias.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <stdexcept>

#include "cases.hpp"

namespace assay::reference {
namespace {

using spec::PseShape;

Problem with_pse(std::int64_t pse_type, PseShape shape) {
  Problem p;
  p.batch = 3;
  p.heads_q = p.heads_kv = 2;
  p.seq_q = 4;
  p.seq_kv = 5;
  p.pse_type = pse_type;
  p.pse_shift = shape;
  return p;
}

/// Makes a contiguous fp32 bias tensor (pse). The function `value` gives the element for each index
/// of the view.
spec::Tensor tabulated(const Problem& p, const std::function<double(const spec::Shape&)>& value) {
  spec::Tensor tensor = spec::contiguous_tensor(spec::DType::fp32, spec::pse_shape(p));
  spec::Shape index(tensor.shape.size(), 0);
  for (std::int64_t k = 0; k < spec::element_count(tensor.shape); ++k) {
    std::int64_t rest = k;
    for (std::size_t axis = index.size(); axis-- > 0; rest /= tensor.shape[axis])
      index[axis] = rest % tensor.shape[axis];
    tensor.store(k, value(index));
  }
  return tensor;
}

/// Returns a number that shows an index: its decimal digits are 1 followed by b, n, i, j. Float
/// represents it exactly.
double digits(const spec::Shape& index) {
  double number = 1.0;
  for (const std::int64_t digit : index) number = 10.0 * number + static_cast<double>(digit);
  return number;
}

using Expected = std::function<double(std::int64_t, std::int64_t, std::int64_t, std::int64_t)>;

void expect_values(const Problem& p, const spec::Tensor& pse, const Expected& expected) {
  const PositionBias bias(p, &pse);
  EXPECT_TRUE(bias.present());
  const spec::Extents queries = query_extents(p);
  for (std::int64_t at = 0; at < queries.rows(); ++at) {
    const auto [b, n, i] = queries.position(at);
    std::vector<double> row(static_cast<std::size_t>(p.length_kv(b)));
    bias.read_row(b, n, i, row, 0);
    for (std::int64_t j = 0; j < p.length_kv(b); ++j) {
      EXPECT_EQ(bias.value(b, n, i, j), expected(b, n, i, j)) << b << n << i << j;
      EXPECT_EQ(row[static_cast<std::size_t>(j)], bias.value(b, n, i, j));
      EXPECT_NEAR(static_cast<double>(bias.value_as<Quad>(b, n, i, j)), bias.value(b, n, i, j),
                  std::abs(bias.value(b, n, i, j)) * 0x1p-52);
    }
  }
}

TEST(PositionBias, ShapeBnssIsReadAtItsOwnElement) {
  const Problem p = with_pse(1, PseShape::bnss);
  expect_values(p, tabulated(p, digits), [](auto b, auto n, auto i, auto j) {
    return digits({b, n, i, j});
  });
}

TEST(PositionBias, ShapeBn1sIsTheSameForEveryQuery) {
  const Problem p = with_pse(0, PseShape::bn1s);
  expect_values(p, tabulated(p, digits), [](auto b, auto n, auto, auto j) {
    return digits({b, n, 0, j});
  });
}

TEST(PositionBias, Shape1NssIsTheSameForEveryBatch) {
  const Problem p = with_pse(1, PseShape::one_nss);
  expect_values(p, tabulated(p, digits), [](auto, auto n, auto i, auto j) {
    return digits({0, n, i, j});
  });
}

/// The bias has rows and columns for the longest sequence. Queries and keys are counted from the
/// start of their own sequence.
TEST(PositionBias, ListedShapesInTndBeginAtEverySequence) {
  const auto ragged = [](PseShape shape) {
    return with_lengths(with_pse(1, shape), {1, 4, 2}, {3, 1, 5});
  };
  const Problem full = ragged(PseShape::bnss);
  EXPECT_EQ(spec::pse_shape(full), (spec::Shape{3, 2, 4, 5}));
  expect_values(full, tabulated(full, digits), [](auto b, auto n, auto i, auto j) {
    return digits({b, n, i, j});
  });
  const Problem row = ragged(PseShape::bn1s);
  expect_values(row, tabulated(row, digits), [](auto b, auto n, auto, auto j) {
    return digits({b, n, 0, j});
  });
  const Problem shared = ragged(PseShape::one_nss);
  expect_values(shared, tabulated(shared, digits), [](auto, auto n, auto i, auto j) {
    return digits({0, n, i, j});
  });
}

TEST(PositionBias, FollowsStridesAndOffset) {
  Problem p = with_pse(1, PseShape::bnss);
  p.dtype = spec::DType::fp32;
  const OwnedSides contiguous = make_sides(p);
  const PositionBias expected(p, contiguous.refer().pse_shift);
  for (const auto striding : {spec::Striding::padded, spec::Striding::transposed}) {
    const Inputs inputs = make_inputs(p, striding);
    expect_values(p, *inputs.pse_shift,
                  [&](auto b, auto n, auto i, auto j) { return expected.value(b, n, i, j); });
  }
}

TEST(PositionBias, PackedByKeysLiesSequenceBySequence) {
  const Problem p = with_lengths(with_pse(1, PseShape::packed_bn1s), {1, 0, 2}, {3, 1, 2});
  const spec::Tensor pse = tabulated(p, [](const spec::Shape& index) { return index[0]; });
  EXPECT_EQ(pse.shape, spec::Shape{2 * 6});
  // The bias of sequence 0 starts at index 0, the bias of sequence 1 at 2 * 3, and the bias of
  // sequence 2 at 2 * 4.
  expect_values(p, pse, [](auto b, auto n, auto, auto j) {
    return b == 0 ? 3 * n + j : b == 1 ? 6 + n + j : 8 + 2 * n + j;
  });
}

TEST(PositionBias, PackedByScoresLiesSequenceBySequence) {
  const Problem p = with_lengths(with_pse(0, PseShape::packed_bnss), {1, 0, 2}, {3, 1, 2});
  const spec::Tensor pse = tabulated(p, [](const spec::Shape& index) { return index[0]; });
  EXPECT_EQ(pse.shape, spec::Shape{2 * 7});
  expect_values(p, pse, [](auto b, auto n, auto i, auto j) {
    return b == 0 ? 3 * n + j : 6 + (n * 2 + i) * 2 + j;
  });
}

TEST(PositionBias, SlopesGiveMinusTheSlopeTimesTheDistance) {
  const Problem p = with_pse(2, PseShape::slopes_n);
  expect_values(p, tabulated(p, digits), [](auto, auto n, auto i, auto j) {
    return -digits({n}) * std::abs(static_cast<double>(j - i));
  });
}

TEST(PositionBias, SlopesOfBatchesTakeTheRootOfTheDistanceInTypeThree) {
  const Problem p = with_pse(3, PseShape::slopes_bn);
  expect_values(p, tabulated(p, digits), [](auto b, auto n, auto i, auto j) {
    return -digits({b, n}) * std::sqrt(std::abs(static_cast<double>(j - i)));
  });
}

TEST(PositionBias, TakesTheRootInTheArithmeticAskedFor) {
  const Problem p = with_pse(3, PseShape::slopes_n);
  const spec::Tensor pse = tabulated(p, [](const spec::Shape&) { return 1.0; });
  const Fifty root = PositionBias(p, &pse).value_as<Fifty>(0, 0, 0, 2);
  EXPECT_LT(abs(Fifty(root * root - 2)), Fifty(1e-48));
}

TEST(PositionBias, CountsDistancesFromTheStartsIfBothAreGiven) {
  Problem p = with_pse(2, PseShape::slopes_n);
  const spec::Tensor pse = tabulated(p, [](const spec::Shape&) { return 1.0; });
  p.q_start_idx = {10, 99};
  EXPECT_EQ(PositionBias(p, &pse).value(2, 0, 3, 1), -2.0);
  p.kv_start_idx = {3};
  EXPECT_EQ(PositionBias(p, &pse).value(2, 0, 3, 1), -9.0);  // |(1 + 3) - (3 + 10)|
  p.q_start_idx.clear();
  EXPECT_EQ(PositionBias(p, &pse).value(2, 0, 3, 1), -2.0);
}

TEST(PositionBias, CountsFromTheStartsInTheFirstSequenceAloneInModeEightOfPackedSequences) {
  Problem p = with_lengths(with_pse(2, PseShape::slopes_n), {3, 2, 4}, {3, 2, 4});
  const spec::Tensor pse = tabulated(p, [](const spec::Shape&) { return 1.0; });
  p.q_start_idx = {5};
  p.kv_start_idx = {1};
  EXPECT_EQ(PositionBias(p, &pse).value(1, 0, 1, 1), -4.0);
  p.sparse_mode = 8;
  EXPECT_EQ(PositionBias(p, &pse).value(0, 0, 1, 1), -4.0);
  EXPECT_EQ(PositionBias(p, &pse).value(1, 0, 1, 1), 0.0);
}

/// Returns a bias that depends only on the batch, the head and the distance i - j.
double of_distance(std::int64_t b, std::int64_t n, std::int64_t distance) {
  return 10000.0 * static_cast<double>(2 * b + n) + static_cast<double>(distance);
}

Problem compressed(PseShape shape, std::int64_t seq) {
  Problem p = with_pse(1, shape);
  p.dtype = spec::DType::fp32;
  p.batch = 2;
  p.seq_q = p.seq_kv = seq;
  return p;
}

/// Makes a bias that contains only the rows of the last 1024 queries. It has a column for each key.
spec::Tensor last_rows(const Problem& p) {
  spec::Tensor tensor = spec::contiguous_tensor(spec::DType::fp32, spec::pse_shape(p));
  std::int64_t element = 0;
  for (std::int64_t b = 0; b < tensor.shape[0]; ++b)
    for (std::int64_t n = 0; n < tensor.shape[1]; ++n)
      for (std::int64_t r = 0; r < tensor.shape[2]; ++r)
        for (std::int64_t j = 0; j < tensor.shape[3]; ++j)
          tensor.store(element++, of_distance(b, n, p.seq_kv - 1024 + r - j));
  return tensor;
}

TEST(PositionBias, Last1024RowsGiveTheBiasOfTheDistanceInEveryRow) {
  for (const std::int64_t seq : {1024, 1025, 2100}) {
    const Problem p = compressed(PseShape::bnhs, seq);
    const spec::Tensor pse = last_rows(p);
    const PositionBias bias(p, &pse);
    for (const std::int64_t i : {std::int64_t{0}, std::int64_t{1}, seq - 1024, seq - 1023, seq - 1})
      for (std::int64_t j = 0; j <= i; ++j)
        ASSERT_EQ(bias.value(1, 1, i, j), of_distance(1, 1, i - j)) << seq << ' ' << i << ' ' << j;
  }
}

TEST(PositionBias, Last1024RowsOfOneBatchServeAllBatches) {
  const Problem p = compressed(PseShape::one_nhs, 1100);
  const spec::Tensor pse = last_rows(p);
  const PositionBias bias(p, &pse);
  EXPECT_EQ(bias.value(1, 0, 1050, 3), of_distance(0, 0, 1047));
  EXPECT_EQ(bias.value(1, 1, 1050, 3), of_distance(0, 1, 1047));
}

TEST(PositionBias, Last1024RowsServePackedSequencesOfAnyLength) {
  const Problem p = with_lengths(compressed(PseShape::bnhs, 0), {7, 1300, 1}, {7, 1300, 1});
  const spec::Tensor pse = last_rows(p);
  const PositionBias bias(p, &pse);
  EXPECT_EQ(bias.value(0, 0, 6, 2), of_distance(0, 0, 4));
  EXPECT_EQ(bias.value(1, 1, 1299, 0), of_distance(1, 1, 1299));
  EXPECT_EQ(bias.value(1, 1, 20, 20), of_distance(1, 1, 0));
  EXPECT_EQ(bias.value(2, 0, 0, 0), of_distance(2, 0, 0));
}

TEST(PositionBias, Last1024RowsServeTensorsOfFewColumns) {
  const Problem p = with_lengths(compressed(PseShape::bnhs, 0), {5, 9}, {5, 9});
  const spec::Tensor pse = last_rows(p);
  EXPECT_EQ(PositionBias(p, &pse).value(1, 0, 8, 0), of_distance(1, 0, 8));
  EXPECT_EQ(PositionBias(p, &pse).value(0, 1, 3, 3), of_distance(0, 1, 0));
}

TEST(PositionBias, MissingTensorGivesZero) {
  const spec::Tensor scalar = spec::contiguous_tensor(spec::DType::fp32, {});
  const Problem p = with_pse(1, PseShape::absent);
  for (const spec::Tensor* none : {static_cast<const spec::Tensor*>(nullptr), &scalar}) {
    EXPECT_FALSE(PositionBias(p, none).present());
    EXPECT_EQ(PositionBias(p, none).value(2, 1, 3, 4), 0.0);
  }
}

TEST(PositionBias, RefusesATensorOfAnotherShapeAndTooFewColumns) {
  const Problem p = with_pse(1, PseShape::bnss);
  const spec::Tensor other = spec::contiguous_tensor(spec::DType::bf16, {3, 2, 4, 4});
  EXPECT_THROW(PositionBias(p, &other), std::invalid_argument);
  Problem long_queries = compressed(PseShape::bnhs, 1024);
  long_queries.seq_q = 1025;
  const spec::Tensor pse = last_rows(long_queries);
  EXPECT_THROW(PositionBias(long_queries, &pse), std::invalid_argument);
}

TEST(ScoreOf, AddsTheBiasBeforeTheScaleInTypeOneAndAfterItInTheOthers) {
  EXPECT_EQ(score_of(3.0, 5.0, 2.0, 1), 16.0);
  for (const std::int64_t type : {0, 2, 3}) EXPECT_EQ(score_of(3.0, 5.0, 2.0, type), 11.0);
}

}  // namespace
}  // namespace assay::reference
