#include "assay/spec/tensor.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <vector>

#include "assay/spec/operators/flash_attention_score_grad.hpp"

namespace assay::spec {
namespace {

constexpr Extents extents = {.batch = 2, .heads = 3, .seq = 4, .dim = 5};

/// Makes a tensor with the strides of `striding`. Each element of the storage contains its own
/// index.
Tensor numbered(const Shape& shape, Striding striding) {
  Parameter parameter{.present = true, .shape = shape};
  apply_striding(parameter, striding);
  const std::int64_t elements = storage_elements(shape, parameter.strides, parameter.offset);
  Tensor tensor{.dtype = DType::fp32,
                .shape = shape,
                .strides = parameter.strides,
                .offset = parameter.offset,
                .bytes = {}};
  tensor.bytes.resize(static_cast<std::size_t>(elements) * 4);
  for (std::int64_t e = 0; e < elements; ++e) tensor.store(e, static_cast<double>(e));
  return tensor;
}

/// Returns the position of (b, n, s, d) in row-major order, computed with the formulas of the
/// layouts.
std::int64_t row_major(Layout layout, const Extents& e, std::int64_t b, std::int64_t n,
                       std::int64_t s, std::int64_t d) {
  switch (layout) {
    case Layout::bsh:
    case Layout::bsnd:
      return ((b * e.seq + s) * e.heads + n) * e.dim + d;
    case Layout::sbh:
      return ((s * e.batch + b) * e.heads + n) * e.dim + d;
    case Layout::bnsd:
      return ((b * e.heads + n) * e.seq + s) * e.dim + d;
    case Layout::tnd:
      return ((e.start(b) + s) * e.heads + n) * e.dim + d;
  }
  return -1;
}

TEST(Layout, GivesTheDocumentedShapes) {
  EXPECT_EQ(shape_of(Layout::bsh, extents), (Shape{2, 4, 15}));
  EXPECT_EQ(shape_of(Layout::sbh, extents), (Shape{4, 2, 15}));
  EXPECT_EQ(shape_of(Layout::bsnd, extents), (Shape{2, 4, 3, 5}));
  EXPECT_EQ(shape_of(Layout::bnsd, extents), (Shape{2, 3, 4, 5}));
  EXPECT_EQ(shape_of(Layout::tnd, extents), (Shape{8, 3, 5}));
}

/// Three sequences with 2, 0 and 4 tokens.
const Extents ragged{.batch = 3, .heads = 3, .seq = 4, .dim = 5, .ends = {2, 2, 6}};

TEST(Extents, UnequalLengthsCountTokensAndRows) {
  EXPECT_EQ(ragged.tokens(), 6);
  EXPECT_EQ(ragged.rows(), 18);
  EXPECT_EQ(ragged.length(0), 2);
  EXPECT_EQ(ragged.length(1), 0);
  EXPECT_EQ(ragged.length(2), 4);
  EXPECT_EQ(ragged.start(1), 2);
  EXPECT_EQ(shape_of(Layout::tnd, ragged), (Shape{6, 3, 5}));
  EXPECT_THROW(shape_of(Layout::bnsd, ragged), std::invalid_argument);
}

TEST(Extents, NumberTheirRowsBatchByBatchAndFindThemAgain) {
  for (const Extents& e : {extents, ragged}) {
    std::int64_t row = 0;
    for (std::int64_t b = 0; b < e.batch; ++b)
      for (std::int64_t n = 0; n < e.heads; ++n)
        for (std::int64_t s = 0; s < e.length(b); ++s, ++row) {
          EXPECT_EQ(e.row(b, n, s), row);
          EXPECT_EQ(e.position(row), (RowPosition{b, n, s}));
        }
    EXPECT_EQ(row, e.rows());
  }
}

TEST(HeadIndex, EverySequenceStartsAfterThePreviousOne) {
  const Tensor tensor = contiguous_tensor(DType::fp16, shape_of(Layout::tnd, ragged));
  const HeadIndex index(tensor, Layout::tnd, ragged);
  EXPECT_EQ(index(0, 0, 0, 0), 0);
  EXPECT_EQ(index(0, 2, 1, 4), (1 * 3 + 2) * 5 + 4);
  EXPECT_EQ(index(2, 0, 0, 0), 2 * 3 * 5);
  EXPECT_EQ(index(2, 1, 3, 2), ((2 + 3) * 3 + 1) * 5 + 2);
}

TEST(Layout, CountsElements) {
  EXPECT_EQ(element_count({}), 1);
  EXPECT_EQ(element_count({2, 3, 4}), 24);
  EXPECT_EQ(element_count({2, 0, 4}), 0);
  EXPECT_EQ(contiguous_strides({2, 3, 4}), (Shape{12, 4, 1}));
  EXPECT_EQ(contiguous_strides({}), Shape{});
}

TEST(Tensor, NeedsStorageUpToItsLastElement) {
  EXPECT_EQ(storage_elements({2, 3}, {3, 1}, 0), 6);
  EXPECT_EQ(storage_elements({2, 3}, {10, 2}, 7), 7 + 10 + 4 + 1);
  EXPECT_EQ(storage_elements({2, 0}, {10, 2}, 7), 7);
  EXPECT_EQ(storage_elements({}, {}, 3), 4);
}

TEST(Tensor, StartsContiguousAndZero) {
  const Tensor tensor = contiguous_tensor(DType::bf16, {3, 4});
  EXPECT_EQ(tensor.bytes.size(), 24u);
  for (std::int64_t e = 0; e < 12; ++e) EXPECT_EQ(tensor.load(e), 0.0);
  EXPECT_FALSE(tensor.empty());
  EXPECT_TRUE(contiguous_tensor(DType::bf16, {3, 0}).empty());
}

TEST(Tensor, ViewsItsElementsInRowMajorOrder) {
  const Tensor tensor{
      .dtype = DType::fp32, .shape = {2, 3}, .strides = {1, 10}, .offset = 5, .bytes = {}};
  EXPECT_EQ(viewed_elements(tensor), (std::vector<std::int64_t>{5, 15, 25, 6, 16, 26}));
}

TEST(Tensor, RankZeroViewsOneElementAndAnEmptyTensorNone) {
  EXPECT_EQ(viewed_elements({.shape = {}, .strides = {}, .offset = 4, .bytes = {}}),
            std::vector<std::int64_t>{4});
  EXPECT_TRUE(viewed_elements(contiguous_tensor(DType::fp32, {2, 0, 3})).empty());
}

TEST(HeadIndex, FollowsTheLayoutWhereTheTensorIsContiguous) {
  for (const auto& [layout, text] : spellings_of<Layout>.entries) {
    const Tensor tensor = contiguous_tensor(DType::fp16, shape_of(layout, extents));
    const HeadIndex index(tensor, layout, extents);
    for (std::int64_t b = 0; b < 2; ++b)
      for (std::int64_t n = 0; n < 3; ++n)
        for (std::int64_t s = 0; s < 4; ++s)
          for (std::int64_t d = 0; d < 5; ++d)
            ASSERT_EQ(index(b, n, s, d), row_major(layout, extents, b, n, s, d)) << text;
  }
}

TEST(HeadIndex, FollowsTheStrides) {
  for (const auto& [layout, text] : spellings_of<Layout>.entries)
    for (const auto& [striding, name] : spellings_of<Striding>.entries) {
      if (striding == Striding::far) continue;  // storage of 8 GiB
      const Tensor tensor = numbered(shape_of(layout, extents), striding);
      const auto viewed = viewed_elements(tensor);
      const HeadView view(tensor, layout, extents);
      for (std::int64_t b = 0; b < 2; ++b)
        for (std::int64_t n = 0; n < 3; ++n)
          for (std::int64_t s = 0; s < 4; ++s)
            for (std::int64_t d = 0; d < 5; ++d) {
              const auto k = static_cast<std::size_t>(row_major(layout, extents, b, n, s, d));
              ASSERT_EQ(view(b, n, s, d), static_cast<double>(viewed[k])) << text << ' ' << name;
            }
    }
}

TEST(HeadIndex, RefusesAShapeOfAnotherLayoutOrExtent) {
  const Tensor tensor = contiguous_tensor(DType::fp32, shape_of(Layout::bnsd, extents));
  EXPECT_THROW(HeadIndex(tensor, Layout::bsnd, extents), std::invalid_argument);
  EXPECT_THROW(HeadIndex(tensor, Layout::bsh, extents), std::invalid_argument);
  Extents wider = extents;
  ++wider.dim;
  EXPECT_THROW(HeadIndex(tensor, Layout::bnsd, wider), std::invalid_argument);
}

TEST(HeadView, ReadsARowAsItReadsElements) {
  const Tensor tensor = numbered(shape_of(Layout::sbh, extents), Striding::padded);
  const HeadView view(tensor, Layout::sbh, extents);
  std::vector<double> row(5);
  view.read_row(1, 2, 3, row);
  for (std::size_t d = 0; d < 5; ++d)
    EXPECT_EQ(row[d], view(1, 2, 3, static_cast<std::int64_t>(d)));
}

RC_GTEST_PROP(Striding, KeepsElementsApartAndInsideTheStorage, ()) {
  const auto rank = *rc::gen::inRange<std::size_t>(0, 5);
  Shape shape(rank);
  for (auto& extent : shape) extent = *rc::gen::inRange<std::int64_t>(1, 6);
  for (const auto& [striding, name] : spellings_of<Striding>.entries) {
    if (striding == Striding::far) continue;  // storage of 8 GiB
    const Tensor tensor = numbered(shape, striding);
    const auto viewed = viewed_elements(tensor);
    const std::set<std::int64_t> distinct(viewed.begin(), viewed.end());
    RC_ASSERT(static_cast<std::int64_t>(viewed.size()) == element_count(shape));
    RC_ASSERT(distinct.size() == viewed.size());
    RC_ASSERT(*distinct.begin() >= 0);
    RC_ASSERT(*distinct.rbegin() == storage_elements(shape, tensor.strides, tensor.offset) - 1);
  }
}

TEST(Striding, PaddedViewLeavesStorageThatNoElementReaches) {
  const Tensor tensor = numbered({2, 3, 4}, Striding::padded);
  EXPECT_GT(tensor.offset, 0);
  EXPECT_GT(tensor.strides[1], 4);
  EXPECT_GT(tensor.bytes.size() / 4, 24u);
}

TEST(Striding, TransposedViewExchangesTheFirstTwoAxes) {
  const Tensor tensor = numbered({2, 3, 4}, Striding::transposed);
  EXPECT_EQ(tensor.strides, (Shape{4, 8, 1}));
  EXPECT_EQ(tensor.bytes.size() / 4, 24u);
}

TEST(MaskShape, FollowsTheProblem) {
  FlashAttentionScoreGrad::Problem p{.batch = 2, .heads_q = 4, .seq_q = 5, .seq_kv = 7};
  const auto shape = [&](MaskShape mask) {
    p.atten_mask = mask;
    return mask_shape(p);
  };
  EXPECT_EQ(shape(MaskShape::ss), (Shape{5, 7}));
  EXPECT_EQ(shape(MaskShape::one_one_ss), (Shape{1, 1, 5, 7}));
  EXPECT_EQ(shape(MaskShape::b_one_ss), (Shape{2, 1, 5, 7}));
  EXPECT_EQ(shape(MaskShape::bnss), (Shape{2, 4, 5, 7}));
  EXPECT_EQ(shape(MaskShape::compressed), (Shape{2048, 2048}));
  EXPECT_THROW(shape(MaskShape::absent), std::invalid_argument);
}

TEST(CallOf, StridesInputsAndOutputsSeparately) {
  const FlashAttentionScoreGrad::Problem p{.seq_q = 6, .atten_mask = MaskShape::ss};
  const auto call =
      call_of(p, FlashEntryPoint::g2, Product::a3, Striding::transposed, Striding::padded);
  const auto& t = call.parameters;
  for (const Parameter* input : {&t.query, &t.key, &t.value, &t.dy, &t.attention_in, &t.softmax_max,
                                 &t.softmax_sum, &t.atten_mask})
    EXPECT_EQ(input->offset, 0);
  for (const Parameter* output : {&t.dq, &t.dk, &t.dv}) EXPECT_GT(output->offset, 0);
  EXPECT_FALSE(t.dpse.present);
  EXPECT_EQ(call.entry_point, FlashEntryPoint::g2);
  EXPECT_EQ(call.product, Product::a3);
}

}  // namespace
}  // namespace assay::spec
