#include <gtest/gtest.h>

#include <set>

#include "../each_operator.hpp"

namespace assay::spec {
namespace {

template <class Op>
class Fields : public testing::Test {};
TYPED_TEST_SUITE(Fields, tests::EveryOperator, tests::ByOperator);

/// Expects that visit_fields visits every member once. To find missing members, compares the sum of
/// the members' sizes with the size of the struct, which has gaps only after its last member.
template <class Struct>
void expect_complete(const char* what) {
  Struct all{};
  std::size_t bytes = 0;
  std::set<const void*> seen;
  std::set<std::string> names;
  visit_fields(all, [&](const char* name, const auto& member) {
    bytes += sizeof member;
    EXPECT_TRUE(seen.insert(&member).second) << what << "::" << name << " is visited twice";
    EXPECT_TRUE(names.insert(name).second) << what << "::" << name << " names two members";
  });
  if (std::is_empty_v<Struct>) {
    EXPECT_EQ(bytes, 0u) << what;
    return;
  }
  const std::size_t whole = (bytes + alignof(Struct) - 1) / alignof(Struct) * alignof(Struct);
  EXPECT_EQ(whole, sizeof(Struct)) << what;
}

TYPED_TEST(Fields, ListEveryMember) {
  expect_complete<typename TypeParam::Inputs>("Inputs");
  expect_complete<typename TypeParam::Outputs>("Outputs");
  expect_complete<typename TypeParam::Parameters>("Parameters");
  expect_complete<typename TypeParam::Attributes>("Attributes");
}

TYPED_TEST(Fields, InputsAndOutputsAreNamedAsTheirParameters) {
  std::set<std::string> parameters;
  typename TypeParam::Parameters all;
  visit_fields(all, [&](const char* name, const auto&) { parameters.insert(name); });
  const auto expect_named = [&](const char* name, const auto&) {
    // dformula is not a documented parameter: only a user's formula has this output.
    if (std::string_view(name) == "dformula") return;
    EXPECT_TRUE(parameters.contains(name)) << name;
  };
  const typename TypeParam::Inputs inputs;
  visit_fields(inputs, expect_named);
  const typename TypeParam::Outputs outputs;
  visit_fields(outputs, expect_named);
}

}  // namespace
}  // namespace assay::spec
