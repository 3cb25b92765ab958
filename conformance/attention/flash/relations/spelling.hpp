#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "assay/reference/mask.hpp"
#include "attention/flash/relations/parts.hpp"

/// Relations between two calls that must give the same outputs, because they describe the same
/// mask, bias, dropout, channels, layout or sequences in two ways.
namespace assay::conformance::attention::flash {

inline bool is_padded_and_masked(const Problem& p) {
  return !is_packed(p) && p.atten_mask != spec::MaskShape::absent;
}

template <class Op>
conformance::Experiment<Op> write_mask(const conformance::Trial<Op>& base) {
  conformance::Trial<Op> written = base;
  const reference::Mask mask(base.problem, &*base.side.atten_mask);
  written.problem.sparse_mode = 1, written.problem.atten_mask = spec::MaskShape::bnss;
  written.problem.pre_tokens = written.problem.next_tokens = spec::unbounded_tokens;
  written.problem.prefix.clear();
  written.side.atten_mask = written_mask(
      written.problem, [&](auto b, auto n, auto i, auto j) { return mask.keeps(b, n, i, j); });
  return unchanged(base, written);
}

/// Returns whether the documentation gives the mask only one meaning. A user mask for packed
/// sequences of different lengths has two meanings.
inline bool is_masked_once(const Problem& p) {
  return p.atten_mask == spec::MaskShape::compressed ||
         (p.atten_mask == spec::MaskShape::ss && p.sparse_mode != 5 && has_equal_lengths(p));
}

template <class Op>
conformance::Experiment<Op> repeat_mask(const conformance::Trial<Op>& base) {
  conformance::Trial<Op> repeated = base;
  repeated.problem.atten_mask = is_compressed(base.problem.atten_mask)
                                    ? spec::MaskShape::compressed_bnss
                                    : spec::MaskShape::bnss;
  const std::vector<std::int64_t> slice = spec::viewed_elements(*base.side.atten_mask);
  spec::Tensor mask =
      spec::contiguous_tensor(base.problem.mask_dtype, mask_shape(repeated.problem));
  const auto count = static_cast<std::int64_t>(mask.bytes.size());
  for (std::int64_t e = 0; e < count; ++e)
    mask.store(e, base.side.atten_mask->load(slice[static_cast<std::size_t>(e) % slice.size()]));
  repeated.side.atten_mask = std::move(mask);
  return unchanged(base, repeated);
}

inline bool has_unused_drop_mask(const Problem& p) {
  return !p.has_dropout() && p.drop_mask != spec::DropMask::absent;
}

template <class Op>
conformance::Experiment<Op> drop_the_drop_mask(const conformance::Trial<Op>& base) {
  conformance::Trial<Op> bare = base;
  bare.problem.drop_mask = spec::DropMask::absent;
  bare.side.drop_mask.reset();
  return unchanged(base, bare);
}

inline bool is_added_first(const Problem& p) {
  int exponent = 0;
  return p.pse_shift != spec::PseShape::absent && p.pse_type == 1 &&
         std::abs(std::frexp(p.scale_value, &exponent)) == 0.5;
}

template <class Op>
conformance::Experiment<Op> scale_bias(const conformance::Trial<Op>& base) {
  conformance::Trial<Op> scaled = base;
  scaled.problem.pse_type = 0;
  for (const std::int64_t e : spec::viewed_elements(*base.side.pse_shift))
    scaled.side.pse_shift->store(e, base.problem.scale_value * base.side.pse_shift->load(e));
  return unchanged(base, scaled);
}

/// Returns a copy of `values` with `dim` channels per row. If necessary, adds channels of zeros or
/// removes channels.
inline std::vector<double> with_channels(const std::vector<double>& values, std::int64_t own,
                                         std::int64_t dim) {
  const auto rows = static_cast<std::int64_t>(values.size()) / own;
  std::vector<double> result(static_cast<std::size_t>(rows * dim), 0.0);
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t d = 0; d < std::min(own, dim); ++d)
      result[static_cast<std::size_t>(row * dim + d)] =
          values[static_cast<std::size_t>(row * own + d)];
  return result;
}

/// For more than 512 channels, the documents contradict each other.
inline constexpr std::int64_t agreed_channels = 512, padded_channels = 16;
inline bool has_room_for_channels(const Problem& p) {
  return p.head_dim + padded_channels <= agreed_channels;
}

/// Adds channels of zeros to the operands. With rope, head sizes of query and key are multiples of
/// 8.
template <class Op>
conformance::Experiment<Op> pad_channels(const conformance::Trial<Op>& base) {
  const Problem& p = base.problem;
  conformance::Trial<Op> padded = base;
  Problem& wide = padded.problem;
  wide.head_dim += p.head_dim_rope > 0 ? 8 : 9, wide.head_dim_v += 5;
  if (p.head_dim_rope > 0) wide.head_dim_rope += 8;
  const auto pad = [](std::int64_t own, std::int64_t dim, auto... rows) {
    ((*rows = with_channels(*rows, own, dim)), ...);
  };
  reference::Operands<double>& rows = padded.rows;
  pad(p.head_dim, wide.head_dim, &rows.query, &rows.key);
  pad(p.head_dim_v, wide.head_dim_v, &rows.value, &rows.dy, &rows.attention_in);
  if (p.head_dim_rope > 0)
    pad(p.head_dim_rope, wide.head_dim_rope, &rows.query_rope, &rows.key_rope);
  conformance::Experiment<Op> experiment = unchanged(base, padded);
  experiment.combine = [narrow = p, wide](const std::vector<OutputValues>& outputs) {
    OutputValues g;
    visit_outputs<Op>(narrow, [&](const auto& gradient, const spec::Extents& extents) {
      const std::string name(gradient.name);
      g[name] = with_channels(outputs[0].at(name), gradient.extents(wide).dim, extents.dim);
    });
    return g;
  };
  return experiment;
}

inline bool is_roped(const Problem& p) {
  return p.head_dim_rope > 0 && p.head_dim + p.head_dim_rope <= agreed_channels;
}

template <class Op>
conformance::Experiment<Op> concatenate_rope(const conformance::Trial<Op>& base) {
  const std::int64_t dim = base.problem.head_dim, rope = base.problem.head_dim_rope;
  conformance::Trial<Op> wide = base;
  wide.problem.head_dim = dim + rope, wide.problem.head_dim_rope = 0;
  wide.rows.query = joined(base.rows.query, dim, base.rows.query_rope, rope);
  wide.rows.key = joined(base.rows.key, dim, base.rows.key_rope, rope);
  wide.rows.query_rope.clear(), wide.rows.key_rope.clear();
  conformance::Experiment<Op> experiment = unchanged(base, wide);
  experiment.combine = [=, narrow = base.problem,
                        wide = wide.problem](const std::vector<OutputValues>& outputs) {
    OutputValues all;
    visit_outputs<Op>(narrow, [&](const auto& output, const spec::Extents& extents) {
      constexpr std::string_view suffix = "_rope";
      std::string name(output.name);
      const bool is_rope = name.ends_with(suffix);
      const std::string from = is_rope ? name.substr(0, name.size() - suffix.size()) : name;
      const bool is_joined = is_rope || output.extents(wide).dim != extents.dim;
      all[name] = is_joined ? channels(outputs[0].at(from), dim + rope, is_rope ? dim : 0,
                                       is_rope ? rope : dim)
                            : outputs[0].at(name);
    });
    return all;
  };
  return experiment;
}

inline bool has_layout(const Problem& p) {
  return has_equal_lengths(p) && p.sparse_mode <= 6 && p.head_dim_rope == 0 && has_movable_bias(p);
}

template <class Op>
conformance::Experiment<Op> lay_out(const conformance::Trial<Op>& base) {
  Problem other = base.problem;
  other.input_layout = spec::Layout::bnsd;
  return rearranging<Op>(base, {{other, {same_row, same_row}}});
}

template <class Op>
conformance::Experiment<Op> stride(const conformance::Trial<Op>& base) {
  return strided(base, spec::Striding::padded, spec::Striding::transposed);
}

template <class Op>
std::span<const conformance::Relation<Op>> spelling_relations() {
  static constexpr conformance::Relation<Op> relations[] = {
      {"write_mask", "Modes 0 and 2 to 6 give the same results as mode 1 with the full mask.",
       Agreement::bound, is_padded_and_masked, "padded layouts with a mask", write_mask<Op>},
      {"repeat_mask", "A mask repeated for every sequence and head excludes the same keys.",
       Agreement::bits, is_masked_once,
       "compressed masks; full masks only for sequences of equal length", repeat_mask<Op>},
      {"unused_drop_mask", "With keepProb 1 a drop mask changes nothing.", Agreement::bits,
       has_unused_drop_mask, "calls with keepProb 1 and a drop mask", drop_the_drop_mask<Op>},
      {"scale_bias", "pseType 1 gives the same results as pseType 0 with the scaled bias.",
       Agreement::bound, is_added_first, "calls with pseType 1 and a power of two as scaleValue",
       scale_bias<Op>},
      {"pad_channels", "Additional channels that contain only zeros change nothing.",
       Agreement::bound, has_room_for_channels, "head sizes up to 512", pad_channels<Op>},
      {"concatenate_rope",
       "Rope tensors give the same results as additional channels of query and key.",
       Agreement::bound, is_roped,
       "calls with rope tensors, where head_dim + head_dim_rope is at most 512",
       concatenate_rope<Op>},
      {"layouts", "Every layout gives the same results as BNSD.", Agreement::bound, has_layout,
       "sequences of equal length, without rope", lay_out<Op>},
      {"views", "Strided views give the same results as contiguous tensors.", Agreement::bits,
       is_anything, "everything", stride<Op>}};
  return relations;
}

}  // namespace assay::conformance::attention::flash
