#include "assay/device/scratchpad.hpp"

#include <gtest/gtest.h>

namespace {

using namespace assay::device;

Scratchpad ub() { return {"UB", {196608}, {32}}; }

TEST(Scratchpad, AllocatesConsecutiveAlignedTiles) {
  Scratchpad pad = ub();
  EXPECT_EQ(pad.allocate({33}, "a").count, 0);
  EXPECT_EQ(pad.allocate({64}, "b").count, 64);
  EXPECT_EQ(pad.used().count, 128);
}

TEST(Scratchpad, TakesExactlyItsCapacity) {
  Scratchpad pad = ub();
  EXPECT_NO_THROW(pad.allocate({196608}, "all"));
}

TEST(Scratchpad, NamesBufferTileBytesOffsetAndLimitOfAnOverflow) {
  Scratchpad pad = ub();
  pad.allocate({196608}, "all");
  try {
    pad.allocate({1}, "scores");
    FAIL() << "the plan must fail";
  } catch (const DeviceFault& fault) {
    EXPECT_STREQ(fault.what(),
                 "UB overflow: scores needs 1 B at offset 196608, capacity is 196608 B");
  }
  EXPECT_EQ(pad.used().count, 196608);
}

}  // namespace
