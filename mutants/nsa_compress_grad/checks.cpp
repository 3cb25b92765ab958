#include "nsa_compress_grad/checks.hpp"

#include <algorithm>
#include <array>

namespace assay::mutants::compress {
namespace {

using spec::DType;
using spec::Format;
using spec::Parameter;
using spec::Status;
using P = spec::NsaCompressGrad::Parameters;
using Member = Parameter P::*;

constexpr std::array packed = {&P::output_grad, &P::input, &P::input_grad};
constexpr std::array per_weight = {&P::weight, &P::weight_grad};

bool narrow(DType dtype) { return dtype == DType::fp16 || dtype == DType::bf16; }
bool narrow_if_given(const Parameter& tensor) { return !tensor.present || narrow(tensor.dtype); }

bool all_tensors(const CompressCall& c, bool (*holds)(const Parameter&)) {
  const auto fits = [&](Member m) { return holds(c.parameters.*m); };
  return std::ranges::all_of(packed, fits) && std::ranges::all_of(per_weight, fits);
}

/// Of the tensors that are given.
bool has_right_ranks(const CompressCall& c) {
  const auto fits = [&](Member m, std::size_t rank) {
    return !(c.parameters.*m).present || (c.parameters.*m).shape.size() == rank;
  };
  return std::ranges::all_of(packed, [&](Member m) { return fits(m, 3); }) &&
         std::ranges::all_of(per_weight, [&](Member m) { return fits(m, 2); });
}

bool is_given(const Parameter& tensor) { return tensor.present; }

bool is_filled(const Parameter& tensor) { return std::ranges::count(tensor.shape, 0) == 0; }

/// Whether the shapes can be compared.
bool has_ranks(const CompressCall& c) { return all_tensors(c, is_given) && has_right_ranks(c); }

bool is_plain(const Parameter& tensor) {
  return tensor.format == Format::nd || tensor.format == Format::nchw ||
         tensor.format == Format::nhwc || tensor.format == Format::ncl;
}

bool has_input_type(const CompressCall& c, std::initializer_list<Member> tensors) {
  const DType expected = c.parameters.input.dtype;
  return !narrow(expected) || std::ranges::all_of(tensors, [&](Member m) {
    const DType dtype = (c.parameters.*m).dtype;
    return !narrow(dtype) || dtype == expected;
  });
}

bool has_sums(const CompressCall& c) {
  return c.parameters.act_seq_len && !c.parameters.act_seq_len->empty();
}

/// The sums of the lengths; actSeqLenType 1 passes the lengths themselves.
std::vector<std::int64_t> sums_of(const CompressCall& c) {
  std::vector<std::int64_t> sums = *c.parameters.act_seq_len;
  if (c.attributes.act_seq_len_type == 1)
    for (std::size_t b = 1; b < sums.size(); ++b) sums[b] += sums[b - 1];
  return sums;
}

bool has_rising_sums(const CompressCall& c) {
  return !has_sums(c) || (sums_of(c).front() >= 0 && std::ranges::is_sorted(sums_of(c)));
}

bool has_sums_of_tokens(const CompressCall& c) {
  return !has_ranks(c) || !has_sums(c) || !has_rising_sums(c) ||
         sums_of(c).back() == c.parameters.input.shape[0];
}

bool has_weight_shape(const CompressCall& c) {
  if (!has_ranks(c) || c.attributes.compress_block_size < 1) return true;
  return c.parameters.weight.shape ==
         spec::Shape{c.attributes.compress_block_size, c.parameters.input.shape[1]};
}

bool has_row_per_window(const CompressCall& c) {
  const std::int64_t size = c.attributes.compress_block_size;
  const std::int64_t stride = c.attributes.compress_stride;
  if (!has_ranks(c) || !has_sums(c) || !has_rising_sums(c) || size < 1 || stride < 1) return true;
  spec::Shape expected = c.parameters.input.shape;
  if (sums_of(c).back() != expected[0]) return true;
  expected[0] = 0;
  std::int64_t before = 0;
  for (const std::int64_t sum : sums_of(c)) {
    if (sum - before >= size) expected[0] += (sum - before - size + stride) / stride;
    before = sum;
  }
  return c.parameters.output_grad.shape == expected;
}

std::vector<Check> tensor_checks() {
  constexpr Status null = Status::param_nullptr, invalid = Status::param_invalid;
  return {
      {"NSAC-C02", null, "no tensor is null",
       [](const CompressCall& c) { return all_tensors(c, is_given); }},
      {"NSAC-C03", null, "workspaceSize and executor are not null",
       [](const CompressCall& c) { return c.parameters.workspace_size && c.parameters.executor; }},
      {"NSAC-C04", invalid, "input and weight are of 16 bits",
       [](const CompressCall& c) {
         return narrow_if_given(c.parameters.input) && narrow_if_given(c.parameters.weight);
       }},
      {"NSAC-C05", invalid, "the gradients are of 16 bits",
       [](const CompressCall& c) {
         return narrow_if_given(c.parameters.output_grad) &&
                narrow_if_given(c.parameters.input_grad) &&
                narrow_if_given(c.parameters.weight_grad);
       }},
      {"NSAC-C06", invalid, "weight and results have the type of input",
       [](const CompressCall& c) {
         return has_input_type(c, {&P::weight, &P::input_grad, &P::weight_grad});
       }},
      {"NSAC-C06a", invalid, "output_grad has the type of input",
       [](const CompressCall& c) { return has_input_type(c, {&P::output_grad}); }},
      {"NSAC-C22", invalid, "no format is private",
       [](const CompressCall& c) { return all_tensors(c, is_plain); }},
      {"NSAC-C07", invalid, "weights have two axes, the others three", has_right_ranks},
  };
}

std::vector<Check> window_checks() {
  constexpr Status invalid = Status::param_invalid;
  return {
      {"NSAC-C09", invalid, "layout is TND",
       [](const CompressCall& c) { return c.attributes.layout.value_or("TND") == "TND"; }},
      {"NSAC-C10", invalid, "compressBlockSize is a multiple of 16",
       [](const CompressCall& c) { return c.attributes.compress_block_size % 16 == 0; }},
      {"NSAC-C11", invalid, "compressStride is a multiple of 16",
       [](const CompressCall& c) { return c.attributes.compress_stride % 16 == 0; }},
      {"NSAC-C12", invalid, "compressBlockSize is not below compressStride",
       [](const CompressCall& c) {
         return c.attributes.compress_block_size >= c.attributes.compress_stride;
       }},
      {"NSAC-C13", invalid, "actSeqLenType is 0 or 1",
       [](const CompressCall& c) {
         return c.attributes.act_seq_len_type == 0 || c.attributes.act_seq_len_type == 1;
       }},
  };
}

std::vector<Check> shape_checks() {
  constexpr Status invalid = Status::param_invalid;
  return {
      {"NSAC-C08", invalid, "weight has a row per token of a window", has_weight_shape},
      {"NSAC-C14", invalid, "the sums never fall", has_rising_sums},
      {"NSAC-C15", invalid, "the last sum is the number of tokens", has_sums_of_tokens},
      {"NSAC-C16", invalid, "output_grad has a row per window", has_row_per_window},
      {"NSAC-C17", invalid, "input_grad has the shape of input",
       [](const CompressCall& c) {
         return !has_ranks(c) || c.parameters.input_grad.shape == c.parameters.input.shape;
       }},
      {"NSAC-C18", invalid, "weight_grad has the shape of weight",
       [](const CompressCall& c) {
         return !has_ranks(c) || c.parameters.weight_grad.shape == c.parameters.weight.shape;
       }},
  };
}

}  // namespace

std::vector<Check> all_checks() {
  std::vector<Check> all = tensor_checks();
  for (const auto& more : {window_checks(), shape_checks()})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

std::vector<Check> checks_beyond_duty() {
  constexpr Status null = Status::param_nullptr, invalid = Status::param_invalid;
  return {
      {"NSAC-C09a", null, "layout is not null",
       [](const CompressCall& c) { return c.attributes.layout.has_value(); }},
      {"NSAC-C11a", invalid, "compressStride is above 0",
       [](const CompressCall& c) { return c.attributes.compress_stride > 0; }},
      {"NSAC-C12a", invalid, "windows overlap",
       [](const CompressCall& c) {
         return c.attributes.compress_block_size != c.attributes.compress_stride;
       }},
      {"NSAC-C13a", invalid, "actSeqLenType is not 1",
       [](const CompressCall& c) { return c.attributes.act_seq_len_type != 1; }},
      {"NSAC-C14a", null, "the sums are given", has_sums},
      {"NSAC-C21", invalid, "no tensor is empty",
       [](const CompressCall& c) { return all_tensors(c, is_filled); }},
  };
}

}  // namespace assay::mutants::compress
