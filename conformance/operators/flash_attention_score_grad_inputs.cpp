#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "assay/conformance/operators/flash_attention_score_grad.hpp"
#include "assay/conformance/random.hpp"
#include "assay/reference/flash_attention_score_grad.hpp"

namespace assay::conformance {
namespace {

using Op = spec::FlashAttentionScoreGrad;
using spec::DType;
using spec::HeadIndex;
using spec::Tensor;

/// Where an element lies, and the numbers that chance gives to it.
struct Place {
  Stream tensor;
  DType dtype;
  std::int64_t s, d;
  Random row;   ///< of (b, n, s)
  Random head;  ///< of (b, n): the same for all its rows

  bool is(Stream which) const { return tensor == which; }
  bool half() const { return dtype == DType::fp16; }
  double normal() const { return factor * row.normal(static_cast<std::uint64_t>(d)); }
  double head_normal() const { return factor * head.normal(static_cast<std::uint64_t>(d)); }
  double uniform() const { return row.uniform(static_cast<std::uint64_t>(d)); }

  /// Fills the significand of fp32, of which the generator's multiples of 2^-16 leave bits unused.
  static constexpr double factor = 0x1.f0f3b6d7a9c51p-1;
};

/// A fraction of rows or elements that owes nothing to the values drawn for them.
bool chosen(const Random& random, std::int64_t index, std::uint64_t one_in) {
  return random.bits(~static_cast<std::uint64_t>(index)) % one_in == 0;
}

double outliers(const Place& p) { return p.normal() * (chosen(p.row, p.d, 128) ? 16 : 1); }

double large_exponent(const Place& p) {
  // Scores stay ordinary: query and key carry opposite exponents.
  if (p.is(Stream::query)) return p.normal() * (p.half() ? 0x1p3 : 0x1p30);
  if (p.is(Stream::key)) return p.normal() * (p.half() ? 0x1p-3 : 0x1p-30);
  return p.normal() * (p.half() ? 0x1p3 : 0x1p20);
}

constexpr std::int64_t overflowing_row = 300, overflow_period = 512;

double overflow_fp16(const Place& p) {
  const bool overflows = p.s % overflow_period == overflowing_row;
  if (overflows && p.is(Stream::query)) return 4 * p.normal();
  if (overflows && p.is(Stream::dy)) return std::clamp(0x1p14 * p.normal(), -65504.0, 65504.0);
  return p.is(Stream::value) ? 4 * p.normal() : p.normal();
}

struct Profile {
  std::string_view name, sentence;
  double (*value)(const Place& place);
};

constexpr Profile profile_list[] = {
    {"normal", "every element is close to normal with deviation 1",
     [](const Place& p) { return p.normal(); }},
    {"peaked", "query and key are four times as large: softmax is near one-hot",
     [](const Place& p) {
       return p.normal() * (p.is(Stream::query) || p.is(Stream::key) ? 4 : 1);
     }},
    {"cancelling", "rows of value differ by 2^-5 of their size: dP is close to the row term",
     [](const Place& p) {
       return p.is(Stream::value) ? p.head_normal() + 0x1p-5 * p.normal() : p.normal();
     }},
    {"all_positive", "every element is uniform in [0, 1): no sum cancels",
     [](const Place& p) { return p.uniform(); }},
    {"offset", "every element has mean 3 and deviation 1/2",
     [](const Place& p) { return 3 + 0.5 * p.normal(); }},
    {"equal_values", "the rows of value of a head are equal: dP equals the row term",
     [](const Place& p) { return p.is(Stream::value) ? p.head_normal() : p.normal(); }},
    {"outliers", "one element in 128 is sixteen times as large", outliers},
    {"subnormal_fp16", "dy is 2^-11 as large: staged dS lies in the subnormal range of fp16",
     [](const Place& p) { return p.normal() * (p.is(Stream::dy) ? 0x1p-11 : 1); }},
    {"large_exponent",
     "value and dy are 2^20 (fp16: 2^3) times as large, query 2^30 (2^3), key as much smaller",
     large_exponent},
    {"tiny_dy", "dy is 2^-40 (fp16: 2^-6) as large",
     [](const Place& p) {
       return p.normal() * (p.is(Stream::dy) ? (p.half() ? 0x1p-6 : 0x1p-40) : 1);
     }},
    {"huge_dy", "dy is 2^40 (fp16: 2^4) times as large",
     [](const Place& p) {
       return p.normal() * (p.is(Stream::dy) ? (p.half() ? 0x1p4 : 0x1p40) : 1);
     }},
    {"sparse_dy", "three rows of dy in four are zero, as where few tokens have a loss",
     [](const Place& p) { return p.is(Stream::dy) && !chosen(p.row, 0, 4) ? 0.0 : p.normal(); }},
    {"overflow_fp16", "one row in 512 has dS beyond the largest fp16 number", overflow_fp16},
};

const Profile& profile_of(const std::string& name) {
  for (const Profile& profile : profile_list)
    if (profile.name == name) return profile;
  throw std::invalid_argument("no input profile '" + name + "'");
}

template <class Bits>
void repeat(std::vector<std::byte>& bytes, Bits pattern) {
  for (std::size_t at = 0; at < bytes.size(); at += sizeof pattern)
    std::memcpy(bytes.data() + at, &pattern, sizeof pattern);
}

/// A NaN whose payload ends in `mark`, throughout the storage.
void fill_with_nan(Tensor& tensor, std::uint8_t mark) {
  if (tensor.dtype == DType::fp32) return repeat(tensor.bytes, std::uint32_t{0x7fda3c00u | mark});
  const std::uint32_t nan = tensor.dtype == DType::bf16 ? 0x7fc0u : 0x7e00u;
  repeat(tensor.bytes, static_cast<std::uint16_t>(nan | mark));
}

Tensor unfilled(const spec::Parameter& parameter) {
  Tensor tensor{.dtype = parameter.dtype,
                .shape = parameter.shape,
                .strides = parameter.strides,
                .offset = parameter.offset,
                .bytes = {}};
  const auto elements = spec::storage_elements(tensor.shape, tensor.strides, tensor.offset);
  tensor.bytes.resize(static_cast<std::size_t>(elements * size_of(tensor.dtype)));
  return tensor;
}

Tensor poisoned(const spec::Parameter& parameter) {
  Tensor tensor = unfilled(parameter);
  fill_with_nan(tensor, 0x25);
  return tensor;
}

void fill(Tensor& tensor, const Case<Op>& c, const spec::Extents& e, Stream which) {
  const HeadIndex at(tensor, c.problem.input_layout, e);
  const Profile& profile = profile_of(c.profile);
  const Random random = stream(c.seed, which);
  const auto substream = [&](std::uint64_t index) {
    return Random(random.bits(index), static_cast<std::uint64_t>(which));
  };
  Place place{
      .tensor = which, .dtype = tensor.dtype, .s = 0, .d = 0, .row = random, .head = random};
  for (std::int64_t b = 0; b < e.batch; ++b)
    for (std::int64_t n = 0; n < e.heads; ++n) {
      const auto head = static_cast<std::uint64_t>(b * 256 + n);
      place.head = substream(head << 32);
      for (place.s = 0; place.s < e.seq; ++place.s) {
        place.row = substream(head << 32 | static_cast<std::uint64_t>(place.s + 1));
        for (place.d = 0; place.d < e.dim; ++place.d)
          tensor.store(at(b, n, place.s, place.d), profile.value(place));
      }
    }
}

void store_statistics(Tensor& tensor, const std::vector<double>& rows) {
  const spec::Shape& stride = tensor.strides;
  std::size_t row = 0;
  for (std::int64_t b = 0; b < tensor.shape[0]; ++b)
    for (std::int64_t n = 0; n < tensor.shape[1]; ++n)
      for (std::int64_t s = 0; s < tensor.shape[2]; ++s, ++row)
        for (std::int64_t k = 0; k < tensor.shape[3]; ++k)
          tensor.store(
              tensor.offset + b * stride[0] + n * stride[1] + s * stride[2] + k * stride[3],
              rows[row]);
}

void store_heads(Tensor& tensor, spec::Layout layout, const spec::Extents& e,
                 const std::vector<double>& values) {
  const HeadIndex at(tensor, layout, e);
  std::size_t k = 0;
  for (std::int64_t b = 0; b < e.batch; ++b)
    for (std::int64_t n = 0; n < e.heads; ++n)
      for (std::int64_t s = 0; s < e.seq; ++s)
        for (std::int64_t d = 0; d < e.dim; ++d) tensor.store(at(b, n, s, d), values[k++]);
}

}  // namespace

std::span<const InputProfile> profiles() {
  static const auto named = [] {
    std::vector<InputProfile> entries;
    for (const Profile& profile : profile_list) entries.push_back({profile.name, profile.sentence});
    return entries;
  }();
  return named;
}

Tensor guarded_tensor(const spec::Parameter& parameter) {
  Tensor tensor = unfilled(parameter);
  if (spec::is_fp16_bf16_fp32(tensor.dtype))
    fill_with_nan(tensor, 0x1a);
  else
    std::ranges::fill(tensor.bytes, std::byte{0xa5});
  return tensor;
}

Op::Inputs make_inputs(const Case<Op>& c) {
  const Op::Problem& p = c.problem;
  const auto call = spec::call_of(p, c.surface, c.product, c.inputs, c.outputs);
  const Op::Parameters& t = call.parameters;
  Op::Inputs inputs{.query = guarded_tensor(t.query),
                    .key = guarded_tensor(t.key),
                    .value = guarded_tensor(t.value),
                    .dy = guarded_tensor(t.dy),
                    .softmax_max = guarded_tensor(t.softmax_max),
                    .softmax_sum = guarded_tensor(t.softmax_sum),
                    .attention_in = guarded_tensor(t.attention_in),
                    .atten_mask = make_mask(c)};
  fill(inputs.query, c, query_extents(p), Stream::query);
  fill(inputs.key, c, key_extents(p), Stream::key);
  fill(inputs.value, c, value_extents(p), Stream::value);
  fill(inputs.dy, c, dy_extents(p), Stream::dy);
  const auto forward = reference::blocked_forward(p, inputs);
  store_statistics(inputs.softmax_max, forward.softmax_max);
  store_statistics(inputs.softmax_sum, forward.softmax_sum);
  store_heads(inputs.attention_in, p.input_layout, dy_extents(p), forward.attention_out);
  return inputs;
}

Op::Outputs make_outputs(const Case<Op>& c) {
  const auto call = spec::call_of(c.problem, c.surface, c.product, c.inputs, c.outputs);
  return {.dq = poisoned(call.parameters.dq),
          .dk = poisoned(call.parameters.dk),
          .dv = poisoned(call.parameters.dv)};
}

}  // namespace assay::conformance
