#include "operators/flash_attention_score_grad/plan/factors.hpp"

#include <algorithm>

#include "assay/conformance/plan/sizes.hpp"
#include "plan/stridings.hpp"

namespace assay::conformance {
namespace attention::flash {
namespace {

using Op = spec::FlashAttentionScoreGrad;
using spec::DType;

/// A case with at least this many sequences is in the class `many`.
constexpr std::int64_t many_sequences = 16;

Pse pse_of(const Op::Problem& p) {
  if (p.pse_shift == spec::PseShape::absent) return Pse::absent;
  return static_cast<Pse>(static_cast<std::int64_t>(Pse::type_0) + p.pse_type);
}

Dropout dropout_of(const Op::Problem& p) {
  if (!p.has_dropout() || p.drop_mask == spec::DropMask::absent) return Dropout::off;
  return p.drop_mask == spec::DropMask::exact ? Dropout::exact : Dropout::granules;
}

Group group_of(const Op::Problem& p) {
  if (p.heads_q == p.heads_kv) return Group::one;
  return p.heads_kv == 1 ? Group::all : Group::some;
}

HeadDim head_dim_of(const Op::Problem& p) {
  if (p.head_dim > 512) return HeadDim::widest;
  if (p.head_dim > 128) return HeadDim::wide;
  if (p.head_dim < 16) return HeadDim::small;
  if (p.head_dim % 16 == 0) return HeadDim::tiles;
  return p.head_dim % 8 == 0 ? HeadDim::eights : HeadDim::odd;
}

LengthsKind uniform_lengths_of(std::int64_t seq_q, std::int64_t seq_kv) {
  if (seq_q == 0 || seq_kv == 0)
    return seq_q != 0    ? LengthsKind::empty_kv
           : seq_kv != 0 ? LengthsKind::empty_q
                         : LengthsKind::empty_both;
  if (seq_q == seq_kv) return LengthsKind::equal;
  if (seq_q == 1) return LengthsKind::one_query;
  if (seq_kv == 1) return LengthsKind::one_key;
  return seq_q < seq_kv ? LengthsKind::shorter_q : LengthsKind::longer_q;
}

LengthsKind packed_lengths_of(const Op::Problem& p) {
  bool empty_q = false, empty_kv = false, alike = true, paired = true;
  for (std::int64_t b = 0; b < p.batch; ++b) {
    empty_q |= p.length_q(b) == 0;
    empty_kv |= p.length_kv(b) == 0;
    alike &= p.length_q(b) == p.length_q(0) && p.length_kv(b) == p.length_kv(0);
    paired &= p.length_q(b) == p.length_kv(b);
  }
  if (empty_q && empty_kv) return LengthsKind::empty_both;
  if (empty_q || empty_kv) return empty_q ? LengthsKind::empty_q : LengthsKind::empty_kv;
  if (p.batch >= many_sequences) return LengthsKind::many;
  if (p.batch == 1) return LengthsKind::single;
  if (alike) return uniform_lengths_of(p.length_q(0), p.length_kv(0));
  return paired ? LengthsKind::paired : LengthsKind::unequal;
}

LengthsKind lengths_of(const Op::Problem& p) {
  return is_packed(p.input_layout) ? packed_lengths_of(p) : uniform_lengths_of(p.seq_q, p.seq_kv);
}

}  // namespace

const Factors<Op, Categories>& factors() {
  using F = Factors<Op, Categories>;
  using K = Categories;
  static const F table({
      F::axis("entry_point", &K::entry_point, every<spec::FlashEntryPoint>(),
              [](const FlashCase& c) { return c.entry_point; }),
      F::axis("product", &K::product, every<spec::Product>(),
              [](const FlashCase& c) { return c.product; }),
      F::axis("layout", &K::layout, every<spec::Layout>(),
              [](const FlashCase& c) { return c.problem.input_layout; }),
      F::axis("dtype", &K::dtype, only({DType::fp16, DType::bf16, DType::fp32}),
              [](const FlashCase& c) { return c.problem.dtype; }),
      F::axis("sparse_mode", &K::sparse_mode,
              in_order<std::int64_t>({"0", "1", "2", "3", "4", "5", "6", "7", "8"}),
              [](const FlashCase& c) { return c.problem.sparse_mode; }),
      F::axis("pse_type", &K::pse, in_order<Pse>({"none", "0", "1", "2", "3"}),
              [](const FlashCase& c) { return pse_of(c.problem); }),
      F::axis("mask", &K::mask, every<spec::MaskShape>(),
              [](const FlashCase& c) { return c.problem.atten_mask; }),
      F::axis("dropout", &K::dropout, in_order<Dropout>({"off", "exact", "granules"}),
              [](const FlashCase& c) { return dropout_of(c.problem); }),
      F::axis("group", &K::group, in_order<Group>({"one", "some", "all"}),
              [](const FlashCase& c) { return group_of(c.problem); }),
      F::axis("head_dim", &K::head_dim,
              in_order<HeadDim>({"small", "odd", "eights", "tiles", "wide", "widest"}),
              [](const FlashCase& c) { return head_dim_of(c.problem); }),
      F::axis(
          "lengths", &K::lengths,
          in_order<LengthsKind>({"equal", "shorter_q", "longer_q", "one_query", "one_key", "paired",
                                 "unequal", "empty_q", "empty_kv", "empty_both", "single", "many"}),
          [](const FlashCase& c) { return lengths_of(c.problem); }),
      F::axis("inputs", &K::inputs, drawn_stridings(),
              [](const FlashCase& c) { return drawn_striding_of(c.inputs); }),
      F::axis("outputs", &K::outputs, drawn_stridings(),
              [](const FlashCase& c) { return drawn_striding_of(c.outputs); }),
      F::drawn("mask_dtype", &K::mask_dtype, only({DType::boolean, DType::uint8})),
      // The pattern all_dead masks all pairs, so all gradients are zero: only corner cases use it.
      F::drawn("pattern", &K::pattern,
               words({"random", "open", "causal", "causal_right", "band", "dead_rows", "checker",
                      "sparse", "documents", "padding"})),
      F::drawn("window", &K::window,
               in_order<WindowKind>(
                   {"unbounded", "causal", "band", "negative_next", "negative_pre", "ignored"})),
      F::drawn("prefix", &K::prefix,
               in_order<Prefix>({"absent", "least", "all", "between", "ignored"})),
      F::drawn("keep", &K::keep, in_order<Keep>({"one", "one_with_mask", "half", "most", "tiny"})),
      // all_kept and all_dropped contradict keep_prob.
      F::drawn("drop", &K::drop, words({"random", "whole_rows", "last_bits"})),
      F::drawn("pse_shape", &K::pse_shape, every<spec::PseShape>()),
      F::drawn("start", &K::start,
               in_order<Start>({"absent", "equal", "query_ahead", "key_ahead", "query_alone"})),
      F::drawn("in_layout", &K::in_layout, every<spec::SoftmaxInLayout>()),
      F::drawn("statistics", &K::statistics, every<spec::StatisticsOrder>()),
      F::drawn("rope", &K::rope, in_order<Rope>({"absent", "eight", "part", "whole"})),
      F::drawn("narrow_value", &K::narrow_value, in_order<bool>({"no", "yes"})),
      F::drawn("track", &K::track, only({Track::bound, Track::exact, Track::exact_staged})),
      // The profile overflow_fp16 needs sequence lengths of its own: only corner cases use it.
      F::drawn("profile", &K::profile,
               words({"normal", "peaked", "cancelling", "all_positive", "offset", "equal_values",
                      "outliers", "subnormal_fp16", "large_exponent", "tiny_dy", "huge_dy",
                      "sparse_dy"})),
      F::drawn("scale", &K::scale, in_order<Scale>({"ordinary", "negative", "one", "odd", "zero"})),
  });
  return table;
}

}  // namespace attention::flash

const Axes* Suite<spec::FlashAttentionScoreGrad>::axes() {
  static const Axes all{Op::name, flash::choice_space(), flash::factors().axes()};
  return &all;
}

Choice Suite<spec::FlashAttentionScoreGrad>::choice_of(const Case<Op>& c) {
  return flash::factors().read(c);
}

std::vector<Size> Suite<spec::FlashAttentionScoreGrad>::sizes(const Case<Op>& c) {
  constexpr std::int64_t of_16_bits = 0xffff, of_20_bits = 0xfffff, of_24_bits = 0xffffff;
  const auto& p = c.problem;
  const std::int64_t scores = spec::score_count(p);
  const std::int64_t tokens = std::max(query_extents(p).tokens(), key_extents(p).tokens());
  std::vector<Size> sizes = {{"head_dim", p.head_dim},        {"head_dim_v", p.head_dim_v},
                             {"heads of a group", p.group()}, {"sequences", p.batch},
                             {"tokens", tokens, of_16_bits},  {"scores", scores, of_24_bits}};
  if (p.has_dropout()) sizes.push_back({"bits of dropout", scores, of_20_bits});
  const auto add_end = [&](std::int64_t end) {
    if (end > 0 && end < std::max(p.seq_q, p.seq_kv)) sizes.push_back({"end of a window", end});
  };
  if (p.atten_mask != spec::MaskShape::absent && (p.sparse_mode == 0 || p.sparse_mode == 4))
    add_end(p.pre_tokens), add_end(p.next_tokens);
  if (p.atten_mask != spec::MaskShape::absent && (p.sparse_mode == 5 || p.sparse_mode == 6))
    for (const std::int64_t prefix : p.prefix) sizes.push_back({"prefix", prefix});
  return sizes;
}

}  // namespace assay::conformance
