#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "block_problem.hpp"
#include "formulas/attention_head.hpp"

namespace assay::engine::attention {
namespace {

/// Keeps the additional sums of all rows.
class KeptSums : public Sink {
 public:
  explicit KeptSums(const Head& h) {
    all[0].resize(static_cast<std::size_t>(h.queries));
    all[1].resize(static_cast<std::size_t>(h.keys));
    all[2] = all[1];
  }
  std::unique_ptr<RowSink> open(std::size_t sum, Range) override {
    return std::make_unique<Rows>(all[sum]);
  }
  std::array<std::vector<RowSums>, 3> all;

 private:
  struct Rows : RowSink {
    explicit Rows(std::vector<RowSums>& to) : to_(to) {}
    void take(std::int64_t row, const ElementRow&, const RowSums& sums) override {
      to_[static_cast<std::size_t>(row)] = sums;
    }
    std::vector<RowSums>& to_;
  };
};

TEST(RowSums, HaveTheSameBitsForAllInstructions) {
  for (const std::int64_t keys : {1, 3, 5, 8, 13, 70, 203}) {
    const Head head = random_head({.queries = 20, .keys = keys, .attended = 0.8, .seed = 31});
    const HeadFormula formula(head);
    const PairsOfHead pairs(head);
    std::vector<KeptSums> kept;
    for (const Instructions one : available_instructions()) {
      kept.emplace_back(head);
      BlockSweep<ToleranceStreams<symbols>, HeadFormula>(
          formula, pairs, {.rows = 16, .keys = 96, .instructions = one}, kept.back())
          .run();
    }
    for (const KeptSums& one : kept)
      for (std::size_t s = 0; s < 3; ++s)
        for (std::size_t r = 0; r < one.all[s].size(); ++r) {
          const RowSums &a = one.all[s][r], &b = kept[0].all[s][r];
          EXPECT_EQ(a.size, b.size);
          EXPECT_EQ(a.overflow, b.overflow);
          EXPECT_EQ(a.spread, b.spread);
          EXPECT_EQ(a.spread_squares, b.spread_squares);
        }
    if (keys > 8) {
      EXPECT_NE(kept[0].all[0][3].spread[0], 0);
    }
  }
}

}  // namespace
}  // namespace assay::engine::attention
