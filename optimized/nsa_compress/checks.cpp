#include "nsa_compress/checks.hpp"

#include <algorithm>

#include "checks/refusals.hpp"

namespace assay::optimized::forward_compression {
namespace {

using Call = Check::Call;

constexpr std::int64_t granule = 16, widest_window = 128, most_heads = 128, widest_head = 256;

Refusal tensors_given(const Call& c) {
  const auto& p = c.parameters;
  return first_missing(
      {{"input", p.input.present}, {"weight", p.weight.present}, {"output", p.output.present}});
}
Refusal lengths_given(const Call& c) {
  const auto& sums = c.parameters.act_seq_len;
  if (const Refusal refusal = first_missing({{"actSeqLenOptional", sums.has_value()}}))
    return refusal;
  return unless(!sums->empty(), "actSeqLenOptional has 0 entries; it needs at least 1");
}
Refusal pointers_given(const Call& c) {
  return first_missing(
      {{"workspaceSize", c.parameters.workspace_size}, {"executor", c.parameters.executor}});
}

Refusal types(const Call& c) {
  const auto& p = c.parameters;
  return first_outside({{"input", &p.input}, {"weight", &p.weight}, {"output", &p.output}},
                       {spec::DType::fp16, spec::DType::bf16});
}
Refusal equal_types(const Call& c) {
  const auto& p = c.parameters;
  return first_unlike({"input", &p.input}, {{"weight", &p.weight}, {"output", &p.output}});
}
Refusal formats(const Call& c) {
  const auto& p = c.parameters;
  const NamedParameter all[] = {{"input", &p.input}, {"weight", &p.weight}, {"output", &p.output}};
  return first_private(all);
}

Refusal ranks(const Call& c) {
  const auto rank_is = [](const char* name, const spec::Parameter& tensor, std::size_t rank) {
    return unless(tensor.shape.size() == rank, "rank of " + std::string(name) + " is " +
                                                   std::to_string(tensor.shape.size()) +
                                                   "; it must be " + std::to_string(rank));
  };
  const auto& p = c.parameters;
  if (const Refusal refusal = rank_is("input", p.input, 3)) return refusal;
  if (const Refusal refusal = rank_is("weight", p.weight, 2)) return refusal;
  return rank_is("output", p.output, 3);
}

/// Checks the layout. Accepts a null pointer, because the documentation page does not say whether a
/// null pointer means TND.
Refusal layout(const Call& c) {
  const auto& given = c.attributes.layout;
  return unless(!given || *given == "TND",
                "layoutOptional is \"" + given.value_or("") + "\"; it must be \"TND\"");
}

Refusal multiple_of_16(const std::string& what, std::int64_t value) {
  return unless(value % granule == 0,
                what + " is " + std::to_string(value) + "; it must be a multiple of 16");
}
Refusal heads(const Call& c) {
  return within("number of heads", c.parameters.input.shape[1], 1, most_heads);
}
Refusal head_dim(const Call& c) { return multiple_of_16("head size", c.parameters.input.shape[2]); }
Refusal largest_head(const Call& c) {
  return within("head size", c.parameters.input.shape[2], granule, widest_head);
}
Refusal window(const Call& c) {
  return multiple_of_16("compressBlockSize", c.attributes.compress_block_size);
}
Refusal largest_window(const Call& c) {
  return within("compressBlockSize", c.attributes.compress_block_size, granule, widest_window);
}
Refusal stride(const Call& c) {
  return multiple_of_16("compressStride", c.attributes.compress_stride);
}
Refusal positive_stride(const Call& c) {
  return at_least("compressStride", c.attributes.compress_stride, granule);
}
Refusal overlap(const Call& c) {
  const auto& a = c.attributes;
  return unless(a.compress_stride <= a.compress_block_size,
                "compressStride is " + std::to_string(a.compress_stride) +
                    "; it must be at most compressBlockSize, which is " +
                    std::to_string(a.compress_block_size));
}

Refusal kind_of_lengths(const Call& c) {
  return unless(c.attributes.act_seq_len_type == 0,
                "actSeqLenType is " + std::to_string(c.attributes.act_seq_len_type) +
                    "; it must be 0 (cumulative lengths)");
}
Refusal ascending(const Call& c) {
  std::int64_t before = 0;
  for (const std::int64_t sum : *c.parameters.act_seq_len) {
    if (sum < before)
      return "an entry of actSeqLenOptional is " + std::to_string(sum) +
             "; it must be at least the previous sum, which is " + std::to_string(before);
    before = sum;
  }
  return std::nullopt;
}
Refusal all_tokens(const Call& c) {
  const std::int64_t last = c.parameters.act_seq_len->back(), tokens = c.parameters.input.shape[0];
  return unless(last == tokens, "last entry of actSeqLenOptional is " + std::to_string(last) +
                                    "; it must be the number of tokens, which is " +
                                    std::to_string(tokens));
}

Refusal elements(const Call& c) {
  const auto is_empty = [](const spec::Parameter& t) { return std::ranges::count(t.shape, 0) > 0; };
  const auto& p = c.parameters;
  for (const NamedParameter& t :
       {NamedParameter{"input", &p.input}, {"weight", &p.weight}, {"output", &p.output}})
    if (is_empty(*t.parameter)) return shape_of(t) + "; it must have elements";
  return std::nullopt;
}
Refusal weight_shape(const Call& c) {
  return shape_is({"weight", &c.parameters.weight},
                  {c.attributes.compress_block_size, c.parameters.input.shape[1]});
}
Refusal output_shape(const Call& c) {
  const auto& a = c.attributes;
  std::int64_t windows = 0, before = 0;
  for (const std::int64_t sum : *c.parameters.act_seq_len) {
    const std::int64_t length = sum - before;
    if (length >= a.compress_block_size)
      windows += (length - a.compress_block_size) / a.compress_stride + 1;
    before = sum;
  }
  const spec::Shape& input = c.parameters.input.shape;
  return shape_is({"output", &c.parameters.output}, {windows, input[1], input[2]});
}

constexpr auto null = spec::Status::param_nullptr, invalid = spec::Status::param_invalid;
constexpr Check checks[] = {
    {"NSCF-C01", null, tensors_given},   {"NSCF-C01a", null, lengths_given},
    {"NSCF-C01b", null, pointers_given}, {"NSCF-C02", invalid, types},
    {"NSCF-C02a", invalid, equal_types}, {"NSCF-C11", invalid, formats},
    {"NSCF-C03", invalid, ranks},        {"NSCF-C03a", invalid, elements},
    {"NSCF-C05", invalid, layout},       {"NSCF-C06", invalid, heads},
    {"NSCF-C06a", invalid, head_dim},    {"NSCF-C06b", invalid, largest_head},
    {"NSCF-C07", invalid, window},       {"NSCF-C07a", invalid, largest_window},
    {"NSCF-C07b", invalid, stride},      {"NSCF-C07c", invalid, positive_stride},
    {"NSCF-C07d", invalid, overlap},     {"NSCF-C08", invalid, kind_of_lengths},
    {"NSCF-C08b", invalid, ascending},   {"NSCF-C08a", invalid, all_tokens},

    {"NSCF-C04", invalid, weight_shape}, {"NSCF-C09", invalid, output_shape},
};

}  // namespace

std::span<const Check> argument_checks() { return checks; }

void refuse_unless_legal(const Call& call) {
  refuse_unless_all_hold<spec::NsaCompress>(checks, call);
}

}  // namespace assay::optimized::forward_compression
