#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "../cases.hpp"
#include "../filled.hpp"
#include "assay/reference/nsa_compress.hpp"

/// Tests the reference of the compression. The tests of its gradient also use this reference: for
/// difference quotients, and for the sum of output_grad * output.
namespace assay::reference {
namespace {

using Problem = spec::CompressionProblem;

/// The example in the documentation: one sequence with two adjacent windows, and all elements are
/// 1.
TEST(NsaCompress, TheExampleOfThePageGivesTwoRowsOf32) {
  const Problem p{.seq = 64, .head_dim = 2, .compress_block_size = 32, .compress_stride = 32};
  const NsaCompress<double> definition(
      p, {std::vector<double>(128, 1.0), std::vector<double>(32, 1.0)});
  for (std::int64_t i = 0; i < 2; ++i)
    EXPECT_EQ(definition.output_row(0, 0, i), std::vector<double>(2, 32.0));
}

/// If one weight of each head is 1 and the others are 0, each window copies the token at the
/// position of this weight.
TEST(NsaCompress, OneWeightCopiesATokenOfEveryWindow) {
  const Problem p{.batch = 3,
                  .heads = 2,
                  .seq = 9,
                  .lengths = {9, 3, 6},
                  .head_dim = 3,
                  .compress_block_size = 4,
                  .compress_stride = 2};
  const spec::Extents inputs = input_extents(p);
  NsaCompressOperands<Quad> operands{{}, std::vector<Quad>(8, Quad(0))};
  for (std::int64_t k = 0; k < inputs.rows() * inputs.dim; ++k)
    operands.input.push_back(Quad(element(2, k)));
  operands.weight[1 * 2 + 0] = operands.weight[3 * 2 + 1] = 1;  // tokens 1 and 3 of a window
  const NsaCompress<Quad> definition(p, operands);
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t n = 0; n < p.heads; ++n)
      for (std::int64_t i = 0; i < output_extents(p).length(b); ++i) {
        const auto token = operands.input.begin() + inputs.row(b, n, 2 * i + 1 + 2 * n) * 3;
        EXPECT_EQ(definition.output_row(b, n, i), std::vector<Quad>(token, token + 3));
      }
}

TEST(NsaCompress, ReadsStridedTensorsAndRefusesOthers) {
  Problem p{.heads = 2, .seq = 32};
  const auto t = call_of(p, spec::NsaCompressEntryPoint::f1, spec::Product::a2,
                         spec::Striding::padded, spec::Striding::contiguous)
                     .parameters;
  const auto element_of = [](std::int64_t k) { return static_cast<double>(k % 7); };
  const spec::NsaCompress::Inputs inputs{.input = filled(t.input, element_of),
                                         .weight = filled(t.weight, element_of)};
  double expected = 0;  // of head 1, channel 3
  for (std::int64_t w = 0; w < 32; ++w)
    expected += element_of(2 * w + 1) * element_of((2 * w + 1) * 16 + 3);
  EXPECT_EQ(NsaCompress<double>::from(p, inputs).output_row(0, 1, 0)[3], expected);
  EXPECT_THROW(NsaCompress<double>(p, {{}, std::vector<double>(64)}), std::invalid_argument);
  EXPECT_THROW(NsaCompress<double>(p, {std::vector<double>(1024), {}}), std::invalid_argument);
  p.heads = 1;
  EXPECT_THROW(NsaCompress<double>::from(p, inputs), std::invalid_argument);
  p.compress_stride = 0;
  EXPECT_THROW(NsaCompress<double>(p, {std::vector<double>(512), std::vector<double>(32)}),
               std::invalid_argument);
}

}  // namespace
}  // namespace assay::reference
