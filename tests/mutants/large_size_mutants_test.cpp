#include "planned_kills.hpp"

namespace assay::conformance {
namespace {

TEST(LargeSizeMutants, OfTheUsualShapeIsKilledByAPlannedCase) {
  testing::expect_killed_as_planned("usual_shape");
}

TEST(LargeSizeMutants, OfOnePairIsKilledByAPlannedCase) {
  testing::expect_killed_as_planned("one_pair");
}

TEST(LargeSizeMutants, OfMoreScoresThan24BitsCountIsKilledByAPlannedCase) {
  testing::expect_killed_as_planned("scores_in_float");
}

}  // namespace
}  // namespace assay::conformance
