#include "planned_kills.hpp"

namespace assay::conformance {
namespace {

class SizeMutants : public ::testing::TestWithParam<const char*> {};

TEST_P(SizeMutants, IsKilledByAPlannedCase) { testing::expect_killed_as_planned(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Small, SizeMutants,
                         ::testing::Values("head_size_between", "group_of_nine", "six_sequences",
                                           "window_of_tiles", "prefix_of_tiles", "tokens_in_16_bits",
                                           "drop_bits_in_20_bits", "value_of_no_whole_blocks"),
                         [](const auto& instance) { return std::string(instance.param); });

}  // namespace
}  // namespace assay::conformance
