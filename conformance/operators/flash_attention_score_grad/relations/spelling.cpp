#include <algorithm>
#include <cmath>

#include "assay/reference/mask.hpp"
#include "operators/flash_attention_score_grad/relations/relations.hpp"

namespace assay::conformance::attention::flash {
namespace {

using spec::DType;
using spec::Layout;
using spec::MaskShape;
using spec::PseShape;

bool is_padded_and_masked(const Op::Problem& p) {
  return !is_packed(p) && p.atten_mask != MaskShape::absent;
}

Experiment write_mask(const Trial& base) {
  Trial written = base;
  const reference::Mask mask(base.problem, &*base.side.atten_mask);
  written.problem.sparse_mode = 1, written.problem.atten_mask = MaskShape::bnss;
  written.problem.pre_tokens = written.problem.next_tokens = spec::unbounded_tokens;
  written.problem.prefix.clear();
  written.side.atten_mask = written_mask(
      written.problem, [&](auto b, auto n, auto i, auto j) { return mask.keeps(b, n, i, j); });
  return unchanged(base, written);
}

/// Returns whether the meaning of the mask is unambiguous. An explicit mask of packed sequences of
/// different lengths has two possible meanings.
bool is_masked_once(const Op::Problem& p) {
  return p.atten_mask == MaskShape::compressed ||
         (p.atten_mask == MaskShape::ss && p.sparse_mode != 5 && has_equal_lengths(p));
}

Experiment repeat_mask(const Trial& base) {
  Trial repeated = base;
  repeated.problem.atten_mask =
      is_compressed(base.problem.atten_mask) ? MaskShape::compressed_bnss : MaskShape::bnss;
  const std::vector<std::int64_t> slice = spec::viewed_elements(*base.side.atten_mask);
  spec::Tensor mask =
      spec::contiguous_tensor(base.problem.mask_dtype, mask_shape(repeated.problem));
  const auto count = static_cast<std::int64_t>(mask.bytes.size());
  for (std::int64_t e = 0; e < count; ++e)
    mask.store(e, base.side.atten_mask->load(slice[static_cast<std::size_t>(e) % slice.size()]));
  repeated.side.atten_mask = std::move(mask);
  return unchanged(base, repeated);
}

bool has_unused_drop_mask(const Op::Problem& p) {
  return !p.has_dropout() && p.drop_mask != spec::DropMask::absent;
}

Experiment drop_the_drop_mask(const Trial& base) {
  Trial bare = base;
  bare.problem.drop_mask = spec::DropMask::absent;
  bare.side.drop_mask.reset();
  return unchanged(base, bare);
}

bool is_added_first(const Op::Problem& p) {
  int exponent = 0;
  return p.pse_shift != PseShape::absent && p.pse_type == 1 &&
         std::abs(std::frexp(p.scale_value, &exponent)) == 0.5;
}

Experiment scale_bias(const Trial& base) {
  Trial scaled = base;
  scaled.problem.pse_type = 0;
  for (const std::int64_t e : spec::viewed_elements(*base.side.pse_shift))
    scaled.side.pse_shift->store(e, base.problem.scale_value * base.side.pse_shift->load(e));
  return unchanged(base, scaled);
}

/// Returns the rows of `values` with `dim` channels: filled up with zeros, or cut.
std::vector<double> with_channels(const std::vector<double>& values, std::int64_t own,
                                  std::int64_t dim) {
  const auto rows = static_cast<std::int64_t>(values.size()) / own;
  std::vector<double> result(static_cast<std::size_t>(rows * dim), 0.0);
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t d = 0; d < std::min(own, dim); ++d)
      result[static_cast<std::size_t>(row * dim + d)] =
          values[static_cast<std::size_t>(row * own + d)];
  return result;
}

/// For more than 512 channels the documents contradict each other.
constexpr std::int64_t agreed_channels = 512, padded_channels = 16;
bool has_room_for_channels(const Op::Problem& p) {
  return p.head_dim + padded_channels <= agreed_channels;
}

/// Adds channels of zeros to the operands. With rope, head sizes of query and key are multiples of
/// 8.
Experiment pad_channels(const Trial& base) {
  const Op::Problem& p = base.problem;
  Trial padded = base;
  Op::Problem& wide = padded.problem;
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
  Experiment experiment = unchanged(base, padded);
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

bool is_roped(const Op::Problem& p) {
  return p.head_dim_rope > 0 && p.head_dim + p.head_dim_rope <= agreed_channels;
}

Experiment concatenate_rope(const Trial& base) {
  const std::int64_t dim = base.problem.head_dim, rope = base.problem.head_dim_rope;
  Trial wide = base;
  wide.problem.head_dim = dim + rope, wide.problem.head_dim_rope = 0;
  wide.rows.query = joined(base.rows.query, dim, base.rows.query_rope, rope);
  wide.rows.key = joined(base.rows.key, dim, base.rows.key_rope, rope);
  wide.rows.query_rope.clear(), wide.rows.key_rope.clear();
  return {
      .base = base, .variants = {wide}, .combine = [=](const std::vector<OutputValues>& outputs) {
        const OutputValues& g = outputs[0];
        return OutputValues{{"dq", channels(g.at("dq"), dim + rope, 0, dim)},
                            {"dk", channels(g.at("dk"), dim + rope, 0, dim)},
                            {"dv", g.at("dv")},
                            {"dq_rope", channels(g.at("dq"), dim + rope, dim, rope)},
                            {"dk_rope", channels(g.at("dk"), dim + rope, dim, rope)}};
      }};
}

bool has_layout(const Op::Problem& p) {
  return has_equal_lengths(p) && p.sparse_mode <= 6 && p.head_dim_rope == 0 && has_movable_bias(p);
}

Experiment lay_out(const Trial& base) {
  Op::Problem other = base.problem;
  other.input_layout = Layout::bnsd;
  return rearranging(base, {{other, {same_row, same_row}}});
}

Experiment stride(const Trial& base) {
  return strided(base, spec::Striding::padded, spec::Striding::transposed);
}

bool is_of_fourth_entry_point(const Op::Problem& p) {
  return is_packed(p) && p.head_dim_rope == 0 && p.pse_type == 1;
}

/// Replaces softmaxInLayout by its other value. If a kernel declares a memory order of the
/// statistics for that value, it gets this order.
Experiment order_statistics(const Trial& base) {
  using enum spec::SoftmaxInLayout;
  Trial other = base;
  Op::Problem& p = other.problem;
  p.softmax_in_layout = p.softmax_in_layout == empty ? same_as_input : empty;
  p.statistics_order = upstream_order(p.softmax_in_layout);
  return unchanged(base, other);
}

}  // namespace

std::span<const Relation> spelling_relations() {
  static constexpr Relation relations[] = {
      {"write_mask", "Modes 0 and 2 to 6 are mode 1 with the mask written out.", Agreement::bound,
       is_padded_and_masked, "padded layouts with a mask", write_mask},
      {"repeat_mask", "A mask repeated for every sequence and head excludes the same keys.",
       Agreement::bits, is_masked_once,
       "compressed masks, and written ones for sequences of equal length", repeat_mask},
      {"unused_drop_mask", "With keepProb 1 a drop mask changes nothing.", Agreement::bits,
       has_unused_drop_mask, "keepProb 1 with a drop mask", drop_the_drop_mask},
      {"scale_bias", "pseType 1 is pseType 0 with the scaled bias.", Agreement::bound,
       is_added_first, "pseType 1 under a power of two for scaleValue", scale_bias},
      {"pad_channels", "Channels of zeros change nothing.", Agreement::bound, has_room_for_channels,
       "head sizes up to 512", pad_channels},
      {"concatenate_rope", "The rope part is more channels of query and key.", Agreement::bound,
       is_roped, "calls with rope tensors of at most 512 channels in all", concatenate_rope},
      {"layouts", "Every layout has the numbers of BNSD.", Agreement::bound, has_layout,
       "sequences of equal length, without rope", lay_out},
      {"views", "Strided views have the numbers of contiguous tensors.", Agreement::bits,
       is_anything, "everything", stride},
      {"statistics_order",
       "softmaxInLayout, and with it the memory order of the statistics, changes nothing.",
       Agreement::bits, is_of_fourth_entry_point, "TND without rope, in pseType 1",
       order_statistics}};
  return relations;
}

}  // namespace assay::conformance::attention::flash
