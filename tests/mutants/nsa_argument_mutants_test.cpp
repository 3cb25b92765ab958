#include "kill_tables.hpp"

namespace assay::mutants {
namespace {

TEST(SelectedMutants, ThatCheckTheirArgumentsWronglyAreCaught) {
  expect_each_told_apart(kill_table_of<spec::NsaSelectedAttentionGrad>(Subject::arguments),
                         {.planted = 34, .healthy = 1});
}

TEST(CompressMutants, ThatCheckTheirArgumentsWronglyAreCaught) {
  expect_each_told_apart(kill_table_of<spec::NsaCompressGrad>(Subject::arguments),
                         {.planted = 23, .healthy = 2});
}

TEST(CompressForwardMutants, ThatCheckTheirArgumentsWronglyAreCaught) {
  expect_each_told_apart(kill_table_of<spec::NsaCompress>(Subject::arguments),
                         {.planted = 25, .healthy = 2});
}

}  // namespace
}  // namespace assay::mutants
