#include "validation/rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "assay/device/ascend.hpp"

namespace assay::bench {
namespace {

const Adjust nothing = [](device::Spec&) {};

TEST(Validation, MedianErrorOfHoldOutRowsIsAtMost15Percent) {
  EXPECT_LE(hold_out_errors(validation_rows(nothing)).median, 0.15);
}

TEST(Validation, SaysWhyWhereItIsOffByMoreThan30Percent) {
  for (const ValidationRow& row : validation_rows(nothing))
    if (row.kind == Kind::hold_out && std::abs(row.error().value_or(0)) > 0.3) {
      EXPECT_FALSE(row.note.empty()) << row.row;
    }
}

TEST(Validation, PredictsWhatItCalibratesAndBoundsWhatItCannotKnow) {
  for (const ValidationRow& row : validation_rows(nothing)) {
    if (row.kind == Kind::calibration) {
      EXPECT_LE(std::abs(*row.error()), 0.25) << row.row;
    }
    if (row.kind == Kind::bound) {
      EXPECT_LE(*row.predicted, row.published) << row.row;
    }
    if (row.kind == Kind::context && !row.predicted) {
      EXPECT_FALSE(row.note.empty()) << row.row;
    }
  }
}

TEST(Validation, NamesEachRowOnceAndCalibratesWithNoGradient) {
  std::set<std::string> names;
  for (const ValidationRow& row : validation_rows(nothing)) {
    EXPECT_TRUE(names.insert(row.row).second) << row.row;
    if (row.row.front() == 'B') {
      EXPECT_NE(row.kind, Kind::calibration) << row.row;
    }
  }
  for (const char* table : {"G1", "G16", "M1", "M4", "F1 ", "F11", "B1 ", "B5"})
    EXPECT_NE(std::find_if(names.begin(), names.end(),
                           [&](const std::string& name) { return name.rfind(table, 0) == 0; }),
              names.end())
        << table;
}

TEST(Validation, FollowsAChangedDevice) {
  const auto rows = validation_rows(nothing);
  const auto slow = validation_rows([](device::Spec& spec) { spec.rates.gm_to_l1.value /= 2; });
  EXPECT_GT(*slow.front().predicted, 1.3 * *rows.front().predicted);
  EXPECT_GT(hold_out_errors(slow).median, hold_out_errors(rows).median);
}

TEST(Moves, GoToBothEndsOfEveryRangeAndNowhereElse) {
  const device::Spec a2 = device::a2();
  std::size_t ends = 0;
  for (const device::Quantity& quantity : device::quantities(a2))
    ends +=
        std::size_t{quantity.low != quantity.value} + std::size_t{quantity.high != quantity.value};
  const auto all = moves(a2);
  EXPECT_EQ(all.size(), ends);
  for (const Move& move : all) {
    device::Spec moved = a2;
    move.adjust(moved);
    const auto before = device::quantities(a2), after = device::quantities(moved);
    std::size_t changed = 0;
    for (std::size_t k = 0; k < before.size(); ++k) changed += before[k].value != after[k].value;
    EXPECT_EQ(changed, 1U) << move.what;
  }
}

}  // namespace
}  // namespace assay::bench
