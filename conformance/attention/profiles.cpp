#include "attention/profiles.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "assay/conformance/judge/arithmetic.hpp"

namespace assay::conformance::attention {
namespace {

bool is_query(const Place& p) { return p.is(Stream::query) || p.is(Stream::query_rope); }
bool is_key(const Place& p) { return p.is(Stream::key) || p.is(Stream::key_rope); }

double large_exponent(const Place& p) {
  // Makes query and key with large numbers but ordinary scores: the exponents of query and key
  // cancel in the products, and the bias stays small.
  if (is_query(p)) return p.normal() * (p.half() ? 0x1p3 : 0x1p30);
  if (is_key(p)) return p.normal() * (p.half() ? 0x1p-3 : 0x1p-30);
  if (p.is(Stream::pse)) return p.normal();
  return p.normal() * (p.half() ? 0x1p3 : 0x1p20);
}

constexpr std::int64_t overflowing_row = 300, overflow_period = 512;

double overflow_fp16(const Place& p) {
  const bool overflows = p.s % overflow_period == overflowing_row;
  if (overflows && is_query(p)) return 4 * p.normal();
  if (overflows && p.is(Stream::dy)) return std::clamp(0x1p14 * p.normal(), -65504.0, 65504.0);
  return p.is(Stream::value) ? 4 * p.normal() : p.normal();
}

/// Imitates models that hide a key with a bias of -10^9, or with the lowest number of the type. Key
/// 0 stays visible, because a query without visible keys tests nothing. If the bias depends on i -
/// j, the diagonal stays visible instead.
double masking_pse(const Place& p) {
  constexpr std::int64_t tile = 64;
  const bool hides_tile = p.d >= tile && chosen(p.head, p.d / tile, 4);
  const bool hides = p.d != 0 && (hides_tile || chosen(p.row, p.d, 4));
  if (!p.is(Stream::pse) || !hides) return p.normal();
  const double lowest = -largest_finite(p.dtype);
  return p.d % 2 == 0 ? lowest : std::max(lowest, -1e9);
}

struct Profile {
  std::string_view name, sentence;
  ProfileValue value;
};

constexpr std::string_view foreign_statistics = "foreign_statistics";

constexpr Profile profile_list[] = {
    {"normal", "the elements are nearly normally distributed, with mean 0 and standard deviation 1",
     profile::normal},
    {"peaked", "query and key are four times as large: softmax is near one-hot",
     [](const Place& p) { return p.normal() * (is_query(p) || is_key(p) ? 4 : 1); }},
    {"cancelling",
     "rows of value differ by 2^-5 of their size: dP is close to delta (the row term)",
     [](const Place& p) {
       return p.is(Stream::value) ? p.head_normal() + 0x1p-5 * p.normal() : p.normal();
     }},
    {"all_positive", "the elements are uniformly distributed in [0, 1), so that no sum cancels",
     profile::all_positive},
    {"offset", "the elements have mean 3 and standard deviation 1/2", profile::offset},
    {"equal_values", "the rows of value of a head are equal: dP equals delta (the row term)",
     [](const Place& p) { return p.is(Stream::value) ? p.head_normal() : p.normal(); }},
    {"outliers", "one element in 128 is sixteen times as large", profile::outliers},
    {"subnormal_fp16", "dy is 2^-11 times as large: staged dS lies in the subnormal range of fp16",
     [](const Place& p) { return p.normal() * (p.is(Stream::dy) ? 0x1p-11 : 1); }},
    {"large_exponent",
     "value and dy are multiplied by 2^20 (fp16: 2^3), query by 2^30 (fp16: 2^3), and key by 2^-30 "
     "(fp16: 2^-3)",
     large_exponent},
    {"tiny_dy", "dy is 2^-40 (fp16: 2^-6) times as large", profile::tiny_dy},
    {"huge_dy", "dy is 2^40 (fp16: 2^4) times as large", profile::huge_dy},
    {"sparse_dy", "three of four rows of dy are zero, as if few tokens had a loss",
     profile::sparse_dy},
    {foreign_statistics,
     "softmax_sum is up to 2^47 (fp16: 2^3) times too large, depending on the row: a kernel that "
     "uses it gets a P that is too small by this factor",
     profile::normal},
    {"overflow_fp16", "one row in 512 has dS beyond the largest fp16 number", overflow_fp16},
    {"masking_pse",
     "the bias hides a quarter of the keys, and a quarter of the blocks of 64 keys after the "
     "first: it is -10^9 there, or the lowest number of its type (fp16: -65504)",
     masking_pse},
    {"negative_query", "like normal, but query is negated", profile::negative<Stream::query>},
    {"negative_key", "like normal, but key is negated", profile::negative<Stream::key>},
    {"negative_value", "like normal, but value is negated", profile::negative<Stream::value>},
    {"negative_dy", "like normal, but dy is negated", profile::negative<Stream::dy>},
    {"negative_query_rope", "like normal, but query_rope is negated",
     profile::negative<Stream::query_rope>},
    {"negative_key_rope", "like normal, but key_rope is negated",
     profile::negative<Stream::key_rope>},
    {"negative_pse", "like normal, but the bias is negated", profile::negative<Stream::pse>},
};

}  // namespace

ProfileValue profile_value(const std::string& name) {
  for (const Profile& profile : profile_list)
    if (profile.name == name) return profile.value;
  throw std::invalid_argument("no input profile '" + name + "'");
}

void disturb_statistics(const std::string& profile, spec::DType dtype, const spec::Extents& queries,
                        std::vector<double>& softmax_sum) {
  if (profile != foreign_statistics) return;
  const std::int64_t powers = dtype == spec::DType::fp16 ? 4 : 48;
  for (std::size_t row = 0; row < softmax_sum.size(); ++row) {
    const std::int64_t s = queries.position(static_cast<std::int64_t>(row)).s;
    if (softmax_sum[row] < 0x1p60)
      softmax_sum[row] = std::ldexp(softmax_sum[row], static_cast<int>(s % powers));
  }
}

std::span<const InputProfile> profiles() {
  static const auto named = [] {
    std::vector<InputProfile> entries;
    for (const Profile& profile : profile_list) entries.push_back({profile.name, profile.sentence});
    return entries;
  }();
  return named;
}

}  // namespace assay::conformance::attention
