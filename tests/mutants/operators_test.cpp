#include <map>
#include <string_view>
#include <utility>

#include "../each_operator.hpp"
#include "kill_tables.hpp"

/// Tests for every operator that the faulty kernels are detected. A change is tested with every
/// third kernel whose argument checks are wrong. The nightly run has all of them, and all kernels
/// with wrong numbers.
namespace assay::mutants {
namespace {

constexpr std::size_t sample = ASSAY_FAULT_SAMPLE;
constexpr bool is_nightly = sample == 1;

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
  for (const Subject subject : {Subject::arguments, Subject::numbers}) {
    if (subject == Subject::numbers && !is_nightly) continue;
    const auto known = least.find({TypeParam::name, subject});
    Crowd crowd = known == least.end() ? Crowd{} : known->second;
    crowd.injected /= sample;
    expect_each_told_apart(kill_table_of<TypeParam>(subject, sample), crowd);
  }
}

}  // namespace
}  // namespace assay::mutants
