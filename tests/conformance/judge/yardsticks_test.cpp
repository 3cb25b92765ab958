#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "compare_pencil.hpp"

namespace assay::conformance {
namespace {

using spec::DType;
using testing::Pencil;

TEST(Distances, NanExceedsEveryYardstick) {
  Pencil pencil(4, 16);
  for (const char* name : {"share_beyond_torch_assert_close", "share_beyond_op_plugin_0.005",
                           "share_beyond_kernelbench_1e-2", "largest_error"})
    EXPECT_EQ(pencil.yardstick(name), 0) << name;
  pencil.actual[5] = std::nan("");
  for (const char* name : {"share_beyond_torch_assert_close", "share_beyond_op_plugin_0.005",
                           "share_beyond_kernelbench_1e-2"})
    EXPECT_EQ(pencil.yardstick(name), 1.0 / 64) << name;
  EXPECT_EQ(pencil.yardstick("largest_error"), HUGE_VAL);
}

TEST(Distances, AscendBenchmarkLimitsDependOnTheType) {
  for (const auto& [io, threshold] :
       {std::pair{DType::bf16, 0x1p-7}, {DType::fp16, 0x1p-10}, {DType::fp32, 0x1p-13}}) {
    Pencil pencil(1, 1, io);
    pencil.actual = {8 * (1 + 0.9 * threshold)};
    EXPECT_EQ(pencil.yardstick("passes_ascend_single_benchmark"), 1) << threshold;
    pencil.actual = {8 * (1 + 1.1 * threshold)};
    EXPECT_EQ(pencil.yardstick("passes_ascend_single_benchmark"), 0) << threshold;
  }
}

}  // namespace
}  // namespace assay::conformance
