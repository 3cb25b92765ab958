#pragma once

#include <vector>

#include "assay/spec/operators/sparse_flash_attention_grad.hpp"
#include "operators/stock.hpp"

/// Functions that read and change calls of SparseFlashAttentionGrad, for its requirements.
namespace assay::spec::sparse_flash {

using Op = SparseFlashAttentionGrad;
using P = Op::Parameters;
using Row = Requirement<Op>;
using SparseCall = Call<Op>;
using nsa::Member;
using nsa::Tensors;

inline constexpr std::string_view page = "aclnnSparseFlashAttentionGrad.md";
inline constexpr std::string_view later_page = "aclnnSparseFlashAttentionGradV2.md";
inline constexpr std::string_view host =
    "ops-transformer: attention/sparse_flash_attention_grad/op_host";
inline constexpr std::string_view kernels =
    "ops-transformer: attention/sparse_flash_attention_grad/op_kernel";
inline constexpr std::string_view forward_page =
    "ops-transformer: attention/sparse_flash_attention/docs/aclnnSparseFlashAttention.md";

/// Three groups of tensors. `ranked`: tensors with a sequence axis and a head axis, which have the
/// rank of the layout. `of_query`, `of_key`: tensors with the batch and head axes of query, or of
/// key.
inline constexpr Tensors<Op, &P::query, &P::key, &P::value, &P::sparse_indices, &P::d_out, &P::out,
                         &P::query_rope, &P::key_rope, &P::d_query, &P::d_key, &P::d_value,
                         &P::d_query_rope, &P::d_key_rope>
    ranked;
inline constexpr Member<Op> of_query[] = {&P::query,      &P::d_out,   &P::out,
                                          &P::query_rope, &P::d_query, &P::d_query_rope};
inline constexpr Member<Op> of_key[] = {&P::key,   &P::value,   &P::key_rope,
                                        &P::d_key, &P::d_value, &P::d_key_rope};

/// Returns whether the attribute `layout` of the call names this layout.
inline bool is_layout(const SparseCall& c, Layout layout) {
  return c.attributes.layout == std::string(to_string(layout));
}
/// Returns the number of axes of the call's layout; 0 for a layout that the documentation page does
/// not list.
inline std::size_t rank_of(const SparseCall& c) {
  return is_layout(c, Layout::tnd) ? 3 : is_layout(c, Layout::bsnd) ? 4 : 0;
}

/// Returns whether all tensors that are not null have the rank of the layout, and query, key and
/// the lists of selected keys are present. Requirements about shapes ignore all other calls.
template <Member<Op>... members>
bool have_rank(const SparseCall& c, Tensors<Op, members...>) {
  const std::size_t rank = rank_of(c);
  return ((!(c.parameters.*members).present || (c.parameters.*members).shape.size() == rank) &&
          ...);
}
inline bool ranks_fit(const SparseCall& c) {
  const auto& p = c.parameters;
  return rank_of(c) != 0 && have_rank(c, ranked) && p.query.present && p.key.present &&
         p.sparse_indices.present;
}

/// Returns the extent of an axis, counted from the last axis (0: channels, 1: heads, 2: tokens).
inline std::int64_t from_last(const Parameter& parameter, std::size_t axis) {
  return parameter.shape[parameter.shape.size() - 1 - axis];
}
inline std::int64_t heads_q(const SparseCall& c) { return from_last(c.parameters.query, 1); }
inline std::int64_t heads_kv(const SparseCall& c) { return from_last(c.parameters.key, 1); }

/// Returns whether the tensor has the shape of `model`, or one of the two tensors is absent. If
/// `channels` is false, ignores the last axis.
inline bool is_like(const Parameter& tensor, const Parameter& model, bool channels = true) {
  if (!tensor.present || !model.present) return true;
  Shape own = tensor.shape, wanted = model.shape;
  if (!channels && !own.empty() && !wanted.empty()) own.back() = wanted.back() = 0;
  return own == wanted;
}

/// Sets the extent of one axis, counted from the last axis, of all tensors among `members` that are
/// present.
template <class Members>
void set_from_last(SparseCall& c, const Members& members, std::size_t axis, std::int64_t extent) {
  for (const Member<Op> member : members) {
    Parameter& tensor = c.parameters.*member;
    if (!nsa::given(tensor) || axis >= tensor.shape.size()) continue;
    Shape shape = tensor.shape;
    shape[shape.size() - 1 - axis] = extent;
    nsa::reshape(tensor, shape);
  }
}

std::vector<Row> presence_and_types();
std::vector<Row> shapes_and_sizes();
std::vector<Row> attributes_and_contents();

}  // namespace assay::spec::sparse_flash
