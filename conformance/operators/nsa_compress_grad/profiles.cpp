#include "operators/nsa_compress_grad/traits.hpp"

namespace assay::conformance {
namespace {

using compression::Profile;

double cancelling(const Place& p) {
  if (p.is(Stream::weight)) return p.normal();
  const double value = p.head_normal() + 0x1p-5 * p.normal();
  return p.is(Stream::dy) && p.s % 2 != 0 ? -value : value;
}

double one_hot(const Place& p) {
  if (!p.is(Stream::dy)) return p.normal();
  const auto rows = static_cast<std::uint64_t>(p.rows), dim = static_cast<std::uint64_t>(p.dim);
  return p.head.bits(0) % rows == static_cast<std::uint64_t>(p.s) &&
                 p.head.bits(1) % dim == static_cast<std::uint64_t>(p.d)
             ? 1
             : 0;
}

double large_exponent(const Place& p) {
  if (p.is(Stream::dy)) return p.normal() * (p.half() ? 0x1p3 : 0x1p20);
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
     "rows of input and output_grad differ by 2^-5 of their size, and the sign of output_grad "
     "alternates: the terms of weight_grad nearly cancel",
     cancelling, 0, 3},
    {"ones", "output_grad and weight are 1: input_grad counts the windows that cover a token",
     [](const Place& p) { return p.is(Stream::input) ? p.normal() : 1; }},
    {"one_hot", "output_grad is 1 at one element of each sequence and head, else 0", one_hot},
    {"sparse_dy", "three of four rows of output_grad are zero, as if few tokens had a loss",
     profile::sparse_dy},
    {"subnormal_fp16",
     "output_grad and weight are multiplied by 2^-7: half of input_grad is in the subnormal range "
     "of "
     "fp16",
     [](const Place& p) { return p.normal() * (p.is(Stream::input) ? 1 : 0x1p-7); }},
    {"large_exponent",
     "output_grad is multiplied by 2^20 (fp16: 2^3), weight by 2^30 (fp16: 2^3), and input by "
     "2^-30 (fp16: 2^-3)",
     large_exponent},
    {"tiny_dy", "output_grad is multiplied by 2^-40 (fp16: 2^-6)", profile::tiny_dy},
    {"huge_dy", "output_grad is multiplied by 2^40 (fp16: 2^4)", profile::huge_dy, 0, 16},
    {"negative_input", "as normal, but with input negated", profile::negative<Stream::input>, 0, 1,
     false},
    {"negative_weight", "as normal, but with weight negated", profile::negative<Stream::weight>, 0,
     1, false},
    {"negative_dy", "like normal, but output_grad is negated", profile::negative<Stream::dy>, 0, 1,
     false},
};

}  // namespace

std::span<const Profile> compression::Traits<spec::NsaCompressGrad>::profiles() {
  return profile_list;
}

}  // namespace assay::conformance
