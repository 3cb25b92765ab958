#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/spec/operators/flash_attention_score_grad.hpp"

/// What the tables of the NSA operators share in reading a call and in breaking one. For the tables
/// only: an implementation that checked its arguments with these functions would share the tables'
/// mistakes.
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

template <class Op>
bool always(const Call<Op>&) {
  return true;
}

/// Neither a null pointer nor of rank 0, which means absent for an optional tensor.
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

/// Whether every present one of `members` has a type that `accepts` takes.
template <class Op, class Accepts>
bool all_have_type(const Call<Op>& call, std::initializer_list<Member<Op>> members,
                   const Accepts& accepts) {
  return std::ranges::all_of(members, [&](Member<Op> member) {
    const Parameter& parameter = call.parameters.*member;
    return !parameter.present || accepts(parameter.dtype);
  });
}

/// Whether `members` share the type of `model`; a type other than fp16 and bf16, or a null, is for
/// other requirements.
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

/// Gives `parameter` a contiguous shape.
inline void reshape(Parameter& parameter, const Shape& shape) {
  parameter.shape = shape;
  apply_striding(parameter, Striding::contiguous);
}

/// `step` more along `axis`; nothing where the tensor has no such axis.
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
/// The other one of fp16 and bf16.
template <class Op, Member<Op> member>
void swap_type(Call<Op>& call) {
  DType& dtype = (call.parameters.*member).dtype;
  dtype = dtype == DType::fp16 ? DType::bf16 : DType::fp16;
}
template <class Op, Member<Op> member, Format format>
void reformat(Call<Op>& call) {
  (call.parameters.*member).format = format;
}
/// One axis of extent 1 more.
template <class Op, Member<Op> member>
void add_axis(Call<Op>& call) {
  Shape shape = (call.parameters.*member).shape;
  shape.push_back(1);
  reshape(call.parameters.*member, shape);
}
/// One axis fewer: the last two in one.
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

/// A statement that no call as data can keep or break, and why.
template <class Op>
Requirement<Op> unexercised(std::string_view id, std::string_view statement, Source source,
                            Standing standing, std::string_view reason) {
  return {.id = id,
          .statement = statement,
          .source = source,
          .standing = standing,
          .sides = {Side::none},
          .applies = always<Op>,
          .holds = always<Op>,
          .violations = {},
          .reason = reason};
}

/// A statement about elements, which phase 1 cannot see.
template <class Op>
Requirement<Op> content(std::string_view id, std::string_view statement, Source source,
                        Standing standing) {
  Requirement<Op> requirement = unexercised<Op>(
      id, statement, source, standing,
      "it speaks of elements, which phase 1 does not read; every case with numbers obeys it");
  requirement.sides = {Side::content};
  return requirement;
}

/// What both pages say alike, and why nothing exercises it.
inline constexpr std::string_view refused_product_reason =
    "no page says what a call on such a product answers; cases of a sweep are of products that "
    "offer the operator";
inline constexpr std::string_view other_products_reason =
    "a call names a2 or a3, and the page says nothing else of these products";
inline constexpr std::string_view first_phase_reason =
    "the second function takes what the first made: no program can call it alone";
inline constexpr std::string_view executor_reason =
    "what a second use of an executor answers is no matter of the operator; the tests of our C API "
    "have it";

/// Requirements of all groups in the order of their ids.
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

/// The extents that shape and sums of a packed tensor tell.
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

/// The lengths of sequences in the form of a problem: none where all are equal.
inline std::vector<std::int64_t> lengths_of(const Extents& extents) {
  std::vector<std::int64_t> lengths;
  for (std::int64_t b = 0; b < extents.batch; ++b) lengths.push_back(extents.length(b));
  if (std::ranges::all_of(lengths, [&](std::int64_t n) { return n == extents.seq; })) return {};
  return lengths;
}

}  // namespace assay::spec::nsa
