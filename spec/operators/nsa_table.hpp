#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/spec/operators/flash_attention_score_grad.hpp"

/// Functions that read calls of the NSA operators, and functions that make calls which break a
/// requirement. Do not use them in an implementation: a mistake in them would then be in both the
/// tests and the implementation.
namespace assay::spec::nsa {

inline constexpr std::string_view selected_page = "aclnnNsaSelectedAttentionGrad.md";
inline constexpr std::string_view compress_page = "aclnnNsaCompressGrad.md";
inline constexpr std::string_view upstream_interface =
    "ops-transformer: docs/context/\u4e24\u6bb5\u5f0f\u63a5\u53e3.md";
inline constexpr std::string_view upstream_selected_forward =
    "ops-transformer: attention/nsa_selected_attention/docs/aclnnNsaSelectedAttention.md";
inline constexpr std::string_view upstream_selected_tiling =
    "ops-transformer: attention/nsa_selected_attention_grad/op_host";
inline constexpr std::string_view upstream_selected_kernels =
    "ops-transformer: attention/nsa_selected_attention_grad/op_kernel";
inline constexpr std::string_view upstream_compress_forward =
    "ops-transformer: attention/nsa_compress/docs/aclnnNsaCompress.md";
inline constexpr std::string_view upstream_compress_tiling =
    "ops-transformer: attention/nsa_compress_grad/op_host";

using Sums = std::optional<std::vector<std::int64_t>>;

template <class Op>
using Member = Parameter Op::Parameters::*;

/// Returns whether the tensor is present. A null pointer or a tensor of rank 0 counts as absent.
inline bool given(const Parameter& parameter) {
  return parameter.present && !parameter.shape.empty();
}

constexpr bool is_16_bit(DType dtype) { return dtype == DType::fp16 || dtype == DType::bf16; }

constexpr bool is_private(Format format) {
  return format == Format::nc1hwc0 || format == Format::fractal_z || format == Format::fractal_nz;
}

template <class Op>
bool all_present(const Call<Op>& call, std::initializer_list<Member<Op>> members) {
  return std::ranges::all_of(members, [&](Member<Op> m) { return (call.parameters.*m).present; });
}

/// Returns whether `accepts` returns true for the type of every tensor in `members` that is
/// present.
template <class Op, class Accepts>
bool all_have_type(const Call<Op>& call, std::initializer_list<Member<Op>> members,
                   const Accepts& accepts) {
  return std::ranges::all_of(members, [&](Member<Op> member) {
    const Parameter& parameter = call.parameters.*member;
    return !parameter.present || accepts(parameter.dtype);
  });
}

/// Returns whether `members` have the type of `model`. Also true for null pointers and for types
/// other than fp16 and bf16, because other requirements check them.
template <class Op>
bool all_like(const Call<Op>& call, Member<Op> model, std::initializer_list<Member<Op>> members) {
  const Parameter& like = call.parameters.*model;
  if (!like.present || !is_16_bit(like.dtype)) return true;
  return all_have_type<Op>(call, members,
                           [&](DType dtype) { return !is_16_bit(dtype) || dtype == like.dtype; });
}

template <class Op>
bool all_plain(const Call<Op>& call, std::initializer_list<Member<Op>> members) {
  return std::ranges::all_of(members, [&](Member<Op> member) {
    const Parameter& parameter = call.parameters.*member;
    return !given(parameter) || !is_private(parameter.format);
  });
}

template <class Op>
bool some_strided(const Call<Op>& call, std::initializer_list<Member<Op>> members) {
  return std::ranges::any_of(members, [&](Member<Op> member) {
    const Parameter& p = call.parameters.*member;
    return given(p) && (p.strides != contiguous_strides(p.shape) || p.offset != 0);
  });
}

template <class Op>
bool all_have_rank(const Call<Op>& call, std::initializer_list<Member<Op>> members,
                   std::size_t rank) {
  return std::ranges::all_of(members, [&](Member<Op> member) {
    const Parameter& parameter = call.parameters.*member;
    return !parameter.present || parameter.shape.size() == rank;
  });
}

/// Gives `parameter` a shape and contiguous strides.
inline void reshape(Parameter& parameter, const Shape& shape) {
  parameter.shape = shape;
  apply_striding(parameter, Striding::contiguous);
}

/// Adds `step` to the extent of `axis`; does nothing if the tensor has no such axis.
inline void grow(Parameter& parameter, std::size_t axis, std::int64_t step = 1) {
  Shape shape = parameter.shape;
  if (axis >= shape.size()) return;
  shape[axis] += step;
  reshape(parameter, shape);
}

template <class Op, Member<Op> member>
void remove(Call<Op>& call) {
  call.parameters.*member = {};
}
template <class Op, Member<Op> member, DType dtype>
void retype(Call<Op>& call) {
  (call.parameters.*member).dtype = dtype;
}
/// Replaces fp16 by bf16 and bf16 by fp16.
template <class Op, Member<Op> member>
void swap_type(Call<Op>& call) {
  DType& dtype = (call.parameters.*member).dtype;
  dtype = dtype == DType::fp16 ? DType::bf16 : DType::fp16;
}
template <class Op, Member<Op> member, Format format>
void reformat(Call<Op>& call) {
  (call.parameters.*member).format = format;
}
/// Adds one axis of extent 1.
template <class Op, Member<Op> member>
void add_axis(Call<Op>& call) {
  Shape shape = (call.parameters.*member).shape;
  shape.push_back(1);
  reshape(call.parameters.*member, shape);
}
/// Removes one axis by merging the last two axes.
template <class Op, Member<Op> member>
void drop_axis(Call<Op>& call) {
  Shape shape = (call.parameters.*member).shape;
  if (shape.size() < 2) return;
  const std::int64_t last = shape.back();
  shape.pop_back();
  shape.back() *= last;
  reshape(call.parameters.*member, shape);
}
template <class Op, Member<Op> member, std::size_t axis, std::int64_t step = 1>
void grow_one(Call<Op>& call) {
  grow(call.parameters.*member, axis, step);
}

/// Builds a requirement that no call can satisfy or break; `reason` says why.
template <class Op>
Requirement<Op> unexercised(std::string_view id, std::string_view statement, Source source,
                            Standing standing, std::string_view reason) {
  return {.id = id,
          .statement = statement,
          .source = source,
          .standing = standing,
          .sides = {Side::none},
          .violations = {},
          .reason = reason};
}

/// Builds a requirement about tensor elements, which phase 1 (the argument check) does not see.
template <class Op>
Requirement<Op> content(std::string_view id, std::string_view statement, Source source,
                        Standing standing) {
  Requirement<Op> requirement = unexercised<Op>(
      id, statement, source, standing,
      "the requirement is about elements, which phase 1 does not read; all numerically judged "
      "cases satisfy it");
  requirement.sides = {Side::content};
  return requirement;
}

/// The reasons why no test case covers certain requirements of the NSA operators' documentation
/// pages.
inline constexpr std::string_view refused_product_reason =
    "no page says which status a call on such an Atlas product returns; a sweep has cases only for "
    "Atlas products that offer the operator";
inline constexpr std::string_view other_products_reason =
    "a call can name only the Atlas products a2 and a3, so no case can use the other products; the "
    "page says only that those do not offer the operator";
inline constexpr std::string_view first_phase_reason =
    "phase 2 needs the executor that phase 1 returns, so no program can call phase 2 alone";
inline constexpr std::string_view executor_reason =
    "the status that a second use of an executor returns does not depend on the operator; the "
    "tests of our C API check this status";

/// Returns the requirements of all groups, sorted by id.
template <class Op>
std::vector<Requirement<Op>> sorted_requirements(
    std::initializer_list<std::vector<Requirement<Op>> (*)()> groups) {
  std::vector<Requirement<Op>> requirements;
  for (const auto group : groups) {
    const auto of_group = group();
    requirements.insert(requirements.end(), of_group.begin(), of_group.end());
  }
  std::ranges::sort(requirements, {}, &Requirement<Op>::id);
  return requirements;
}

/// Returns the extents of a packed tensor from its shape and the cumulative lengths.
inline Extents packed_extents(const Shape& shape, const std::vector<std::int64_t>& sums) {
  Extents extents{.batch = static_cast<std::int64_t>(sums.size()),
                  .heads = shape[1],
                  .seq = 0,
                  .dim = shape[2],
                  .ends = sums};
  for (std::int64_t b = 0; b < extents.batch; ++b)
    extents.seq = std::max(extents.seq, extents.length(b));
  return extents;
}

/// Returns the lengths of the sequences. If all are equal, the list is empty, as in the member
/// `lengths` of a problem.
inline std::vector<std::int64_t> lengths_of(const Extents& extents) {
  std::vector<std::int64_t> lengths;
  for (std::int64_t b = 0; b < extents.batch; ++b) lengths.push_back(extents.length(b));
  if (std::ranges::all_of(lengths, [&](std::int64_t n) { return n == extents.seq; })) return {};
  return lengths;
}

}  // namespace assay::spec::nsa
