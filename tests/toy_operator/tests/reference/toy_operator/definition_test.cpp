#include <gtest/gtest.h>

#include "assay/reference/toy_operator.hpp"

namespace assay::reference {
namespace {

/// Tests a case that is computed by hand. EDIT.
TEST(ToyOperatorDefinition, IsThatOfAPencilCase) {
  const ToyOperator<double> definition = {
      {.heads = 2, .seq = 3, .head_dim = 1, .window = 2}, {1, 2, 3, 10, 20, 30}, {1, 10, 2, 3}};
  EXPECT_EQ(definition.output_row(0, 0), std::vector{1.0 * 1 + 10 * 2});
  EXPECT_EQ(definition.output_row(1, 1), std::vector{2.0 * 20 + 3 * 30});
}

}  // namespace
}  // namespace assay::reference
