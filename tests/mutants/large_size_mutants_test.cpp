#include "planned_kills.hpp"

namespace assay::conformance {
namespace {

TEST(LargeSizeMutants, UsualShapeMutantIsKilledByAPlannedCase) {
  testing::expect_killed_as_planned("usual_shape");
}

TEST(LargeSizeMutants, OnePairMutantIsKilledByAPlannedCase) {
  testing::expect_killed_as_planned("one_pair");
}

TEST(LargeSizeMutants, ScoresInFloatMutantIsKilledByAPlannedCase) {
  testing::expect_killed_as_planned("scores_in_float");
}

}  // namespace
}  // namespace assay::conformance
