#include "kill_tables.hpp"

namespace assay::mutants {
namespace {

TEST(SelectedMutants, AreCaughtByTheDefaultSweepAndNoHealthyVariantFails) {
  expect_each_told_apart(kill_table_of<spec::NsaSelectedAttentionGrad>(Subject::numbers),
                         {.planted = 54, .healthy = 20});
}

TEST(CompressMutants, AreCaughtByTheDefaultSweepAndNoHealthyVariantFails) {
  expect_each_told_apart(kill_table_of<spec::NsaCompressGrad>(Subject::numbers),
                         {.planted = 35, .healthy = 20});
}

TEST(CompressForwardMutants, AreCaughtByTheDefaultSweepAndNoHealthyVariantFails) {
  expect_each_told_apart(kill_table_of<spec::NsaCompress>(Subject::numbers),
                         {.planted = 48, .healthy = 15});
}

}  // namespace
}  // namespace assay::mutants
