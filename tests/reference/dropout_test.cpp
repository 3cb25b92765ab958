#include "assay/reference/dropout.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "cases.hpp"

namespace assay::reference {
namespace {

/// A problem with two batches, two heads and 2 x 3 scores, and therefore 24 dropout bits.
Problem dropping(double keep_prob) {
  Problem p;
  p.batch = p.heads_q = p.heads_kv = p.seq_q = 2;
  p.seq_kv = 3;
  p.keep_prob = keep_prob;
  p.drop_mask = spec::DropMask::exact;
  return p;
}

spec::Tensor bytes(const std::vector<int>& values) {
  spec::Tensor tensor =
      spec::contiguous_tensor(spec::DType::uint8, {static_cast<std::int64_t>(values.size())});
  for (std::size_t k = 0; k < values.size(); ++k)
    tensor.store(static_cast<std::int64_t>(k), values[k]);
  return tensor;
}

/// Returns one text for each head. It contains "1" for each kept score and "0" for each dropped
/// score.
std::vector<std::string> kept(const Problem& p, const spec::Tensor& mask) {
  const Dropout dropout(p, &mask);
  std::vector<std::string> heads;
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t n = 0; n < p.heads_q; ++n) {
      std::string head;
      for (std::int64_t i = 0; i < p.length_q(b); ++i) {
        if (i > 0) head += ' ';
        for (std::int64_t j = 0; j < p.length_kv(b); ++j)
          head += dropout.keeps(b, n, i, j) ? '1' : '0';
      }
      heads.push_back(head);
    }
  return heads;
}

TEST(Dropout, ReadsBitsFromTheLeastSignificantOneOn) {
  // The bits of the bytes, listed from bit 0: 0xb1 is 1000 1101, 0x05 is 1010 0000, 0x80 is 0000
  // 0001.
  EXPECT_EQ(kept(dropping(0.5), bytes({0xb1, 0x05, 0x80})),
            (std::vector<std::string>{"100 011", "011 010", "000 000", "000 001"}));
}

TEST(Dropout, CountsTheBitsOfPackedSequencesWithoutGaps) {
  const Problem p = with_lengths(dropping(0.5), {1, 0, 2}, {3, 2, 1});
  // Sequence 0 has two heads of 1 x 3 scores, sequence 1 has no scores, sequence 2 has two heads of
  // 2 x 1 scores. In this order the bits are 110 100, 0 1, 1 0.
  EXPECT_EQ(kept(p, bytes({0x8b, 0x01})),
            (std::vector<std::string>{"110", "100", "", "", "0 1", "1 0"}));
}

TEST(Dropout, KeepsEverythingAndReadsNothingAtKeepProbOne) {
  const spec::Tensor none = bytes({0, 0, 0});
  const Dropout dropout(dropping(1.0), &none);
  EXPECT_FALSE(dropout.present());
  EXPECT_TRUE(dropout.keeps(1, 1, 1, 2));
  EXPECT_TRUE(Dropout(dropping(1.0), nullptr).keeps(0, 0, 0, 0));
}

TEST(Dropout, RoundsKeepProbToFloat) {
  const spec::Tensor mask = bytes({0, 0, 0});
  EXPECT_EQ(Dropout(dropping(0.9), &mask).keep_prob(), static_cast<double>(0.9f));
}

TEST(Dropout, FollowsStrideAndOffset) {
  spec::Tensor spread = bytes({9, 0xb1, 9, 0x05, 9, 0x80});
  spread.shape = {3};
  spread.strides = {2};
  spread.offset = 1;
  EXPECT_EQ(kept(dropping(0.5), spread), kept(dropping(0.5), bytes({0xb1, 0x05, 0x80})));
}

TEST(Dropout, IgnoresBytesAfterTheLastScore) {
  EXPECT_EQ(kept(dropping(0.5), bytes({0xb1, 0x05, 0x80, 0xff, 0xff})),
            kept(dropping(0.5), bytes({0xb1, 0x05, 0x80})));
}

TEST(Dropout, RefusesAMissingMaskAndOneWithTooFewBits) {
  const spec::Tensor two = bytes({0, 0});
  EXPECT_THROW(Dropout(dropping(0.5), nullptr), std::invalid_argument);
  EXPECT_THROW(Dropout(dropping(0.5), &two), std::invalid_argument);
}

}  // namespace
}  // namespace assay::reference
