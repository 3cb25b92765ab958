#include "operators/nsa_compress/traits.hpp"

namespace assay::conformance {
namespace {

using compression::Profile;

/// In this profile the tokens of a window are similar and the weights have alternating signs, so
/// that the terms of a sum nearly cancel.
double cancelling_windows(const Place& p) {
  if (p.is(Stream::weight)) return (p.s % 2 == 0 ? 1 : -1) * (1 + 0x1p-5 * p.normal());
  return p.head_normal() + 0x1p-5 * p.normal();
}

double wide_exponent(const Place& p) {
  if (p.is(Stream::weight)) return p.normal() * (p.half() ? 0x1p3 : 0x1p30);
  return p.normal() * (p.half() ? 0x1p-3 : 0x1p-30);
}

constexpr Profile profile_list[] = {
    {"normal", "the elements are nearly normally distributed, with mean 0 and standard deviation 1",
     profile::normal},
    {"all_positive", "the elements are uniformly distributed in [0, 1), so that no sum cancels",
     profile::all_positive, 0.25, 0.25},
    {"offset", "the elements have mean 3 and standard deviation 1/2", profile::offset, 9, 3},
    {"outliers", "one element in 128 is sixteen times as large", profile::outliers, 0, 3},
    {"cancelling",
     "tokens differ by 2^-5 of their size, and the signs of weights alternate: the terms of the "
     "output nearly cancel",
     cancelling_windows, 0, 3},
    {"ones", "every weight is 1: the output is the sum of a window",
     [](const Place& p) { return p.is(Stream::input) ? p.normal() : 1; }},
    {"sparse_weight", "three weights in four are zero",
     [](const Place& p) {
       return p.is(Stream::weight) && !chosen(p.row, 0, 4) ? 0.0 : p.normal();
     }},
    {"subnormal_fp16", "both inputs are multiplied by 2^-7: outputs are subnormal fp16 numbers",
     [](const Place& p) { return p.normal() * 0x1p-7; }},
    {"large_exponent", "weight is multiplied by 2^30 (fp16: 2^3), and input by 2^-30 (fp16: 2^-3)",
     wide_exponent},
    {"negative_input", "like normal, but input is negated", profile::negative<Stream::input>, 0, 1,
     false},
    {"negative_weight", "like normal, but weight is negated", profile::negative<Stream::weight>, 0,
     1, false},
};

}  // namespace

std::span<const Profile> compression::Traits<spec::NsaCompress>::profiles() { return profile_list; }

}  // namespace assay::conformance
