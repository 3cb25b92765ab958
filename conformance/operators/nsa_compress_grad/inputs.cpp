#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "assay/conformance/operators/nsa_compress_grad.hpp"
#include "compression/windows.hpp"
#include "inputs/input_profiles.hpp"

namespace assay::conformance {
namespace compress {
namespace {

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

/// A profile, with mean and standard deviation of a product of output_grad and input in fp16.
struct Profile {
  std::string_view name, sentence;
  ProfileValue value;
  double mean, deviation;
};

constexpr Profile profile_list[] = {
    {"normal", "every element is close to normal with deviation 1", profile::normal, 0, 1},
    {"all_positive", "every element is uniform in [0, 1): no sum cancels", profile::all_positive,
     0.25, 0.25},
    {"offset", "every element has mean 3 and deviation 1/2", profile::offset, 9, 3},
    {"outliers", "one element in 128 is sixteen times as large", profile::outliers, 0, 3},
    {"cancelling",
     "rows of input and output_grad differ by 2^-5 of their size, output_grad in alternating sign: "
     "weight_grad "
     "is a small rest",
     cancelling, 0, 3},
    {"ones", "output_grad and weight are 1: input_grad counts the windows that cover a token",
     [](const Place& p) { return p.is(Stream::input) ? p.normal() : 1; }, 0, 1},
    {"one_hot", "output_grad is 1 at one element of each sequence and head, else 0", one_hot, 0, 1},
    {"sparse_dy", "three rows of output_grad in four are zero, as where few tokens have a loss",
     profile::sparse_dy, 0, 1},
    {"subnormal_fp16",
     "output_grad and weight are 2^-7 as large: half of input_grad lies in the subnormal range of "
     "fp16",
     [](const Place& p) { return p.normal() * (p.is(Stream::input) ? 1 : 0x1p-7); }, 0, 1},
    {"large_exponent",
     "output_grad is 2^20 (fp16: 2^3) times as large, weight 2^30 (2^3), input as much smaller",
     large_exponent, 0, 1},
    {"tiny_dy", "output_grad is 2^-40 (fp16: 2^-6) as large", profile::tiny_dy, 0, 1},
    {"huge_dy", "output_grad is 2^40 (fp16: 2^4) times as large", profile::huge_dy, 0, 16},
    {"negative_input", "as normal, but with input negated", profile::negative<Stream::input>, 0, 1},
    {"negative_weight", "as normal, but with weight negated", profile::negative<Stream::weight>, 0,
     1},
    {"negative_dy", "as normal, but with output_grad negated", profile::negative<Stream::dy>, 0, 1},
};

const Profile& profile_named(const std::string& name) {
  const auto found = std::ranges::find(profile_list, name, &Profile::name);
  if (found == std::end(profile_list))
    throw std::invalid_argument("unknown input profile '" + name + "'");
  return *found;
}

/// Returns a power of two that keeps weight_grad, and the terms of its sums, in the range of fp16.
double input_factor(const Op::Problem& p, const Profile& profile) {
  if (p.dtype != spec::DType::fp16) return 1;
  constexpr double limit = 0x1p14, deviations = 6;
  const auto products = static_cast<double>(all_windows(p) * p.head_dim);
  const double largest =
      profile.mean * products + deviations * profile.deviation * std::sqrt(products);
  double factor = 1;
  while (factor * largest > limit) factor /= 2;
  return factor;
}

spec::Tensor weights(const spec::Parameter& parameter, const Op::Problem& p,
                     const Filling& filling) {
  spec::Parameter rows = parameter;
  rows.shape.push_back(1);
  rows.strides.push_back(1);
  spec::Tensor tensor = filled_tensor(rows, spec::Layout::tnd, weight_extents(p), filling);
  tensor.shape = parameter.shape;
  tensor.strides = parameter.strides;
  return tensor;
}

}  // namespace

}  // namespace compress

std::span<const InputProfile> Suite<spec::NsaCompressGrad>::profiles() {
  static const auto named = [] {
    std::vector<InputProfile> entries;
    for (const auto& profile : compress::profile_list)
      entries.push_back({profile.name, profile.sentence});
    return entries;
  }();
  return named;
}

spec::NsaCompressGrad::Inputs Suite<spec::NsaCompressGrad>::draw(const Case<Op>& c) {
  const auto& p = c.problem;
  const auto t = spec::call_of(p, c.entry_point, c.product, c.inputs, c.outputs).parameters;
  const compress::Profile& profile = compress::profile_named(c.profile);
  const auto filling = [&](Stream which, double factor) {
    return Filling{.seed = c.seed, .which = which, .value = profile.value, .factor = factor};
  };
  return {.output_grad = filled_tensor(t.output_grad, spec::Layout::tnd, output_extents(p),
                                       filling(Stream::dy, 1)),
          .input = filled_tensor(t.input, spec::Layout::tnd, input_extents(p),
                                 filling(Stream::input, compress::input_factor(p, profile))),
          .weight = compress::weights(t.weight, p, filling(Stream::weight, 1))};
}

}  // namespace assay::conformance
