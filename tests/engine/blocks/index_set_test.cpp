#include "assay/engine/blocks/index_set.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "assay/engine/blocks/turns.hpp"
#include "assay/parallel/loop.hpp"

namespace assay::engine {
namespace {

std::vector<double> counts(const IndexSet& set, std::int64_t row, std::int64_t first,
                           std::size_t count) {
  std::vector<double> times(count, -1);
  set.counts(row, first, times);
  return times;
}

TEST(IndexSet, AWindowCountsItsKeysOnce) {
  const Windows causal({{0, 1}, {0, 2}, {2, 2}});
  EXPECT_EQ(counts(causal, 1, 0, 4), (std::vector<double>{1, 1, 0, 0}));
  EXPECT_EQ(counts(causal, 1, 1, 2), (std::vector<double>{1, 0}));
  EXPECT_EQ(counts(causal, 2, 0, 3), (std::vector<double>{0, 0, 0}));
  EXPECT_EQ(Windows::all(2, 3).reach(1), (Range{0, 3}));
}

TEST(IndexSet, AListCountsAKeyAsOftenAsItNamesIt) {
  const Lists lists({{4, 1, 4}, {}});
  EXPECT_EQ(lists.reach(0), (Range{1, 5}));
  EXPECT_EQ(lists.reach(1), (Range{0, 0}));
  EXPECT_EQ(counts(lists, 0, 0, 5), (std::vector<double>{0, 1, 0, 0, 2}));
  EXPECT_EQ(counts(lists, 0, 3, 2), (std::vector<double>{0, 2}));
  EXPECT_EQ(counts(lists, 1, 0, 2), (std::vector<double>{0, 0}));
}

TEST(IndexSet, ChosenRowsAndKeysKeepTheirPairs) {
  const Lists lists({{0, 3, 3}, {1}, {2, 3}});
  const std::vector<std::int64_t> rows = {2, 0}, keys = {3, 0, 1};
  const Chosen chosen(lists, rows, keys);
  EXPECT_EQ(counts(chosen, 0, 0, 3), (std::vector<double>{1, 0, 0}));
  EXPECT_EQ(counts(chosen, 1, 0, 3), (std::vector<double>{2, 1, 0}));
  EXPECT_EQ(counts(chosen, 1, 1, 2), (std::vector<double>{1, 0}));
  EXPECT_EQ(chosen.reach(0), (Range{0, 1}));
  EXPECT_EQ(chosen.reach(1), (Range{0, 3}));  // key 1 is between the keys of the row
}

// B4.
TEST(Turns, RowBlocksComeInTheirOrderWhateverTheThreads) {
  Turns turns(3);
  std::vector<std::vector<std::int64_t>> order(3);
  parallel::for_each(
      40,
      [&](std::int64_t block) {
        TurnsOfBlock mine(turns, block);
        for (auto& at : order) mine.take([&] { at.push_back(block); });
      },
      3);
  for (const auto& at : order) {
    ASSERT_EQ(at.size(), 40U);
    for (std::size_t k = 0; k < at.size(); ++k) EXPECT_EQ(at[k], static_cast<std::int64_t>(k));
  }
}

TEST(Turns, FailingBlockDoesNotBlockOthers) {
  Turns turns(2);
  EXPECT_THROW(parallel::for_each(
                   20,
                   [&](std::int64_t block) {
                     TurnsOfBlock mine(turns, block);
                     mine.take([&] {
                       if (block == 7) throw std::runtime_error("seven");
                     });
                   },
                   3),
               std::runtime_error);
}

}  // namespace
}  // namespace assay::engine
