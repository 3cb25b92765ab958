#include "bilinear/tensors.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <stdexcept>

namespace assay::mutants::bilinear {
namespace {

/// Calls change(number, token, head, channel) for each number of the tensor.
template <class Change>
void each(Values& values, const Change& change) {
  std::size_t k = 0;
  for (std::int64_t t = 0; t < values.tokens(); ++t)
    for (std::int64_t n = 0; n < values.heads(); ++n)
      for (std::int64_t c = 0; c < values.channels(); ++c) change(values.numbers[k++], t, n, c);
}

/// Fault: replaces each number by the number at index place(values, token, head, channel),
/// row-major.
template <auto place>
void moved(Values& values, const Values&) {
  const std::vector<double> right = values.numbers;
  const auto count = static_cast<std::int64_t>(right.size());
  each(values, [&](double& number, std::int64_t t, std::int64_t n, std::int64_t c) {
    number = right[static_cast<std::size_t>(place(values, t, n, c) % count)];
  });
}

/// Fault: sets the numbers to 0 for which is_lost(values, head, channel) is true.
template <auto is_lost>
void cleared(Values& values, const Values&) {
  each(values, [&](double& number, std::int64_t, std::int64_t n, std::int64_t c) {
    if (is_lost(values, n, c)) number = 0;
  });
}

template <auto change>
void replaced(Values& values, const Values&) {
  for (double& number : values.numbers) number = change(number);
}

void exchange_rows(Values& values, const Values&) {
  const auto size = static_cast<std::ptrdiff_t>(values.heads() * values.channels());
  if (values.tokens() > 1)
    std::swap_ranges(values.numbers.begin(), values.numbers.begin() + size,
                     values.numbers.begin() + size);
}

void shift_rows(Values& values, const Values&) {
  const auto size = static_cast<std::ptrdiff_t>(values.heads() * values.channels());
  std::shift_right(values.numbers.begin(), values.numbers.end(), size);
  std::fill_n(values.numbers.begin(), std::min<std::ptrdiff_t>(size, std::ssize(values.numbers)),
              0);
}

void add_old(Values& values, const Values& old) {
  std::ranges::transform(values.numbers, old.numbers, values.numbers.begin(), std::plus());
}

void enlarge_largest(Values& values, const Values&) {
  if (!values.numbers.empty()) *std::ranges::max_element(values.numbers) *= 1.25;
}

using V = const Values&;
using I = std::int64_t;

std::int64_t in_head_0(V v, I t, I, I c) { return t * v.heads() * v.channels() + c; }
std::int64_t in_next_head(V v, I t, I n, I c) {
  return (t * v.heads() + (n + 1) % v.heads()) * v.channels() + c;
}
std::int64_t transposed(V v, I t, I n, I c) { return (n * v.tokens() + t) * v.channels() + c; }
std::int64_t from_last_token(V v, I t, I n, I c) {
  return ((v.tokens() - 1 - t) * v.heads() + n) * v.channels() + c;
}
std::int64_t in_short_heads(V v, I t, I n, I c) {
  return std::max<I>(0, (t * v.heads() + n) * (v.channels() - 16) + c);
}

bool is_of_last_channels(V v, I, I c) { return c + 8 >= v.channels(); }
bool is_after_blocks_of_32(V v, I, I c) { return c >= v.channels() / 32 * 32; }
bool is_after_8192_numbers(V v, I n, I) { return n * v.channels() >= 8192; }
bool is_overwritten(V v, I n, I c) { return n > 0 && c < 31 - (v.channels() + 31) % 32; }

constexpr TensorFault input_faults[] = {
    {"of_head_0", "has the values of head 0 for every head", moved<in_head_0>},
    {"transposed", "is read as if the head were its first axis", moved<transposed>},
    {"reversed", "is read with the tokens in reverse order", moved<from_last_token>},
    {"head_dim_16_too_few", "is read as if each head had 16 channels less", moved<in_short_heads>},
};

constexpr TensorFault output_faults[] = {
    {"rows_shifted", "is written one row too late", shift_rows},
    {"rows_exchanged", "has its first two rows swapped", exchange_rows},
    {"heads_exchanged", "has the values of the next head in every head", moved<in_next_head>},
    {"of_head_0", "has the values of head 0 in every head", moved<in_head_0>},
    {"negative_clipped", "has 0 instead of negative numbers",
     replaced<[](double one) { return std::max(one, 0.0); }>},
    {"last_channels", "is 0 in its last eight channels", cleared<is_of_last_channels>},
    {"rest_of_32_channels", "is 0 in the channels after the last full block of 32",
     cleared<is_after_blocks_of_32>},
    {"row_of_8192", "is 0 in heads at offset 8,192 or more of a row",
     cleared<is_after_8192_numbers>},
    {"epilogue_in_32_channels",
     "is stored 32 channels at a time, so that it overwrites the first channels of the next head",
     cleared<is_overwritten>},
    {"all_zeros", "is 0", replaced<[](double) { return 0.0; }>},
    {"all_nan", "is NaN", replaced<[](double) { return std::nan(""); }>},
    {"one_element_off", "has a largest element that is 25 % too large", enlarge_largest},
    {"scale_one_percent_more", "is 1 % too large", replaced<[](double one) { return 1.01 * one; }>},
    {"adds_to_old_output", "is added to the old contents", add_old},
};

const TensorFault& named(std::span<const TensorFault> faults, std::string_view name) {
  const auto found = std::ranges::find(faults, name, &TensorFault::name);
  if (found == faults.end()) throw std::invalid_argument("no tensor fault " + std::string(name));
  return *found;
}

}  // namespace

Values values_of(const spec::Tensor& tensor) {
  Values values{tensor.shape, {}};
  for (const std::int64_t element : viewed_elements(tensor))
    values.numbers.push_back(tensor.load(element));
  return values;
}

void store(const Values& values, spec::Tensor& tensor) {
  std::size_t k = 0;
  for (const std::int64_t element : viewed_elements(tensor))
    tensor.store(element, values.numbers[k++]);
}

const TensorFault& input_fault(std::string_view name) { return named(input_faults, name); }
const TensorFault& output_fault(std::string_view name) { return named(output_faults, name); }

spec::Tensor misread(const spec::Tensor& tensor, const TensorFault& fault) {
  Values values = values_of(tensor);
  fault.change(values, values);
  spec::Tensor result = spec::contiguous_tensor(tensor.dtype, tensor.shape);
  store(values, result);
  return result;
}

}  // namespace assay::mutants::bilinear
