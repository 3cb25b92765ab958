#include <map>
#include <string_view>
#include <utility>

#include "../each_operator.hpp"
#include "kill_tables.hpp"

/// Tests for every operator that all faulty kernels are detected. ASSAY_SUBJECT selects the
/// kernels: those with wrong argument checks, or those with wrong numbers.
namespace assay::mutants {
namespace {

constexpr Subject subject = Subject::ASSAY_SUBJECT;

/// The minimum numbers of kernels, so that no kernel disappears unnoticed. For a new operator any
/// number is accepted.
const std::map<std::pair<std::string_view, Subject>, Crowd> least = {
    {{"flash_attention_score_grad", Subject::arguments}, {.injected = 79, .healthy = 1}},
    {{"flash_attention_score_grad", Subject::numbers}, {.injected = 74, .healthy = 23}},
    {{"nsa_selected_attention_grad", Subject::arguments}, {.injected = 34, .healthy = 1}},
    {{"nsa_selected_attention_grad", Subject::numbers}, {.injected = 54, .healthy = 20}},
    {{"nsa_compress_grad", Subject::arguments}, {.injected = 23, .healthy = 2}},
    {{"nsa_compress_grad", Subject::numbers}, {.injected = 35, .healthy = 20}},
    {{"nsa_compress", Subject::arguments}, {.injected = 25, .healthy = 2}},
    {{"nsa_compress", Subject::numbers}, {.injected = 48, .healthy = 15}},
    {{"nsa_selected_attention", Subject::arguments}, {.injected = 31, .healthy = 1}},
    {{"nsa_selected_attention", Subject::numbers}, {.injected = 49, .healthy = 11}},
    {{"flash_attention_score", Subject::arguments}, {.injected = 56, .healthy = 1}},
    {{"flash_attention_score", Subject::numbers}, {.injected = 82, .healthy = 28}}};

template <class Op>
class MutantsOf : public ::testing::Test {};
TYPED_TEST_SUITE(MutantsOf, tests::EveryOperator, tests::ByOperator);

TYPED_TEST(MutantsOf, AreCaughtAndNoHealthyVariantFails) {
  const auto known = least.find({TypeParam::name, subject});
  expect_each_told_apart(kill_table_of<TypeParam>(subject),
                         known == least.end() ? Crowd{} : known->second);
}

}  // namespace
}  // namespace assay::mutants
