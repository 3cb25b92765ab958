#include "operators/flash_attention_score/traits.hpp"

namespace assay::conformance {
namespace {

constexpr InputProfile profile_list[] = {
    {"normal",
     "the elements are nearly normally distributed, with mean 0 and standard deviation 1"},
    {"peaked", "query and key are four times as large: softmax is near one-hot"},
    {"cancelling", "rows of value differ by 2^-5 of their size"},
    {"all_positive", "the elements are uniformly distributed in [0, 1), so that no sum cancels"},
    {"offset", "the elements have mean 3 and standard deviation 1/2"},
    {"equal_values",
     "within a head all rows of value are equal: the output is nearly equal to such a row"},
    {"outliers", "one element in 128 is sixteen times as large"},
    {"large_exponent",
     "value is multiplied by 2^20 (fp16: 2^3), query by 2^30 (fp16: 2^3), and key by 2^-30 (fp16: "
     "2^-3)"},
    {"masking_pse",
     "the bias hides a quarter of the keys, and a quarter of the blocks of 64 keys after the "
     "first: it is -10^9 there, or the lowest number of its type (fp16: -65504)"},
    {"negative_query", "as normal, but with query negated"},
    {"negative_key", "as normal, but with key negated"},
    {"negative_value", "as normal, but with value negated"},
    {"negative_query_rope", "as normal, but with query_rope negated"},
    {"negative_key_rope", "as normal, but with key_rope negated"},
    {"negative_pse", "as normal, but with the bias negated"},
};

}  // namespace

std::span<const InputProfile> flash::Traits<spec::FlashAttentionScore>::profiles() {
  return profile_list;
}

}  // namespace assay::conformance
