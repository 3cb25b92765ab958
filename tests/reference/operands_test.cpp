#include "assay/reference/operands.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "cases.hpp"

namespace assay::reference {
namespace {

/// A problem with two heads and sequences of 2 and 1 queries. The statistics of each row contain
/// the number of the row in memory.
Problem two_sequences(spec::StatisticsOrder order) {
  Problem p;
  p.dtype = spec::DType::fp32;
  p.heads_q = 2;
  p.heads_kv = 1;
  p.head_dim = p.head_dim_v = 1;
  p.statistics_order = order;
  return with_lengths(p, {2, 1}, {1, 3});
}

Inputs with_counted_statistics(const Problem& p, spec::Striding striding) {
  Inputs inputs = make_inputs(p, striding);
  const auto viewed = spec::viewed_elements(inputs.softmax_max);
  for (std::size_t k = 0; k < viewed.size(); ++k)
    inputs.softmax_max.store(viewed[k], static_cast<double>(k / 8));
  return inputs;
}

using Values = std::vector<double>;

/// Requires that the rows of a tensor are those of the dense array.
void expect_rows(const TensorRows& rows, const Values& dense, std::int64_t dim, const char* name) {
  SCOPED_TRACE(name);
  ASSERT_FALSE(dense.empty());
  Values row(static_cast<std::size_t>(dim));
  for (std::int64_t index = 0; index * dim < std::ssize(dense); ++index) {
    rows.read(index, row);
    EXPECT_TRUE(std::equal(row.begin(), row.end(), dense.begin() + index * dim)) << index;
  }
}

TEST(Operands, RowsOfTensorsAreThoseOfDenseArrays) {
  Problem plain;
  plain.heads_q = 4, plain.heads_kv = 2;
  plain.seq_q = 3, plain.seq_kv = 5;
  plain.head_dim = 6, plain.head_dim_v = 4, plain.head_dim_rope = 3;
  Problem padded = plain;
  padded.batch = 2;
  for (const Problem& p : {padded, with_lengths(plain, {2, 0, 3}, {1, 4, 0})})
    for (const auto& [striding, name] : spec::spellings_of<spec::Striding>.entries) {
      if (striding == spec::Striding::far) continue;  // storage of 8 GiB
      SCOPED_TRACE(name);
      const Inputs inputs = make_inputs(p, striding);
      const Operands<double> dense = operands_of<double>(p, inputs);
      const TensorOperands rows = tensor_operands_of(p, inputs);
      expect_rows(rows.query, dense.query, 6, "query");
      expect_rows(rows.key, dense.key, 6, "key");
      expect_rows(rows.value, dense.value, 4, "value");
      expect_rows(rows.dy, dense.dy, 4, "dy");
      expect_rows(rows.attention_in, dense.attention_in, 4, "attention_in");
      expect_rows(rows.query_rope, dense.query_rope, 3, "query_rope");
      expect_rows(rows.key_rope, dense.key_rope, 3, "key_rope");
      EXPECT_EQ(Values(rows.softmax_max.begin(), rows.softmax_max.end()), dense.softmax_max);
      EXPECT_EQ(Values(rows.softmax_sum.begin(), rows.softmax_sum.end()), dense.softmax_sum);
    }
}

TEST(Operands, SinksOfTensorsAreThoseOfDenseArrays) {
  Problem p;
  p.heads_q = 4, p.heads_kv = 2;
  p.sink = spec::SinkShape::per_head;
  Inputs inputs = make_inputs(p, spec::Striding::contiguous);
  inputs.sink = spec::contiguous_tensor(spec::DType::fp32, {p.heads_q});
  for (std::int64_t n = 0; n < p.heads_q; ++n) inputs.sink->store(n, 0.5 * static_cast<double>(n));
  const std::vector<float> sinks = {0, 0.5, 1, 1.5};
  EXPECT_EQ(operands_of<float>(p, inputs).sink, sinks);
  EXPECT_EQ(tensor_operands_of(p, inputs).sink, sinks);
  inputs.sink.reset();
  EXPECT_THROW(tensor_operands_of(p, inputs), std::invalid_argument);
}

TEST(Operands, ReadStatisticsHeadsFirstInsideASequence) {
  for (const auto& [striding, name] : spec::spellings_of<spec::Striding>.entries) {
    if (striding == spec::Striding::far) continue;  // storage of 8 GiB
    const Problem p = two_sequences(spec::StatisticsOrder::heads_first);
    EXPECT_EQ(operands_of<double>(p, with_counted_statistics(p, striding)).softmax_max,
              (Values{0, 1, 2, 3, 4, 5}))
        << name;
  }
}

TEST(Operands, ReadStatisticsTokensFirstAsTheShapeSays) {
  // The rows in the order of the result: sequence 0 has head 0 with tokens 0, 1 and head 1 with
  // tokens 0, 1; sequence 1 has heads 0, 1 with token 2.
  for (const auto& [striding, name] : spec::spellings_of<spec::Striding>.entries) {
    if (striding == spec::Striding::far) continue;  // storage of 8 GiB
    const Problem p = two_sequences(spec::StatisticsOrder::tokens_first);
    EXPECT_EQ(operands_of<double>(p, with_counted_statistics(p, striding)).softmax_max,
              (Values{0, 2, 1, 3, 4, 5}))
        << name;
  }
}

TEST(Operands, ReadStatisticsOfPaddedLayoutsAsTheShapeSays) {
  Problem p = two_sequences(spec::StatisticsOrder::tokens_first);
  p.lengths_q.clear();
  p.lengths_kv.clear();
  p.input_layout = spec::Layout::bsh;
  const Inputs inputs = with_counted_statistics(p, spec::Striding::contiguous);
  EXPECT_EQ(operands_of<double>(p, inputs).softmax_max, (Values{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(Operands, NumberRowsSequenceBySequenceAndHeadByHead) {
  const Problem p = two_sequences(spec::StatisticsOrder::heads_first);
  Inputs inputs = make_inputs(p, spec::Striding::contiguous);
  for (std::int64_t element = 0; element < 6; ++element)  // token, head
    inputs.query.store(element, static_cast<double>(element));
  EXPECT_EQ(operands_of<double>(p, inputs).query, (Values{0, 2, 1, 3, 4, 5}));
}

TEST(Operands, RefuseAMissingRopeTensor) {
  Problem p = two_sequences(spec::StatisticsOrder::heads_first);
  p.head_dim_rope = 1;
  Inputs inputs = make_inputs(p, spec::Striding::contiguous);
  EXPECT_EQ(operands_of<double>(p, inputs).key_rope.size(), 4u);
  inputs.key_rope.reset();
  EXPECT_THROW(operands_of<double>(p, inputs), std::invalid_argument);
}

}  // namespace
}  // namespace assay::reference
