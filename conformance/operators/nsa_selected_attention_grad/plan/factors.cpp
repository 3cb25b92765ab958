#include "operators/nsa_selected_attention_grad/plan/factors.hpp"

#include <algorithm>
#include <cstdlib>

#include "assay/conformance/plan/sizes.hpp"
#include "plan/stridings.hpp"

namespace assay::conformance {
namespace selected {
namespace {

using spec::DType;

HeadDims head_dims_of(const Op::Problem& p) {
  if (p.head_dim == 192) return p.head_dim_v == 192 ? HeadDims::wide : HeadDims::mixed;
  return p.head_dim_v == 192 ? HeadDims::wide_value : HeadDims::narrow;
}

Group group_of(const Op::Problem& p) {
  if (p.group() == 1) return Group::one;
  if (p.group() > 17) return Group::most;
  return p.group() < 15 ? Group::few : Group::sixteen;
}

BlockCount block_count_of(const Op::Problem& p) {
  const std::int64_t count = p.selected_block_count;
  if (count <= 2) return count == 1 ? BlockCount::one : BlockCount::two;
  if (count <= 8) return BlockCount::few;
  if (count <= 16) return count == 16 ? BlockCount::sixteen : BlockCount::some;
  return count < 32 ? BlockCount::many : BlockCount::most;
}

Queries queries_of(const Op::Problem& p) {
  const std::int64_t queries = p.length_q(0), keys = p.length_kv(0);
  if (queries == 1) return Queries::one;
  if (queries == keys) return Queries::equal;
  if (std::abs(queries - p.selected_block_size) <= 1) return Queries::edge;
  return queries < keys ? Queries::shorter : Queries::longer;
}

Keys keys_of(const Op::Problem& p) {
  const std::int64_t more = p.length_kv(0) - listed_keys(p);
  if (more == 0) return Keys::listed;
  return more == p.selected_block_size ? Keys::one_more : Keys::more;
}

Batch batch_of(const Op::Problem& p) {
  if (p.batch == 1) return Batch::single;
  if (p.batch >= many_sequences) return Batch::many;
  return p.lengths_q.empty() && p.lengths_kv.empty() ? Batch::alike : Batch::unequal;
}

}  // namespace

const Factors<Op, Categories>& factors() {
  using F = Factors<Op, Categories>;
  using K = Categories;
  static const F table({
      F::axis("product", &K::product, every<spec::Product>(),
              [](const SelectedCase& c) { return c.product; }),
      F::axis("dtype", &K::dtype, only({DType::fp16, DType::bf16}),
              [](const SelectedCase& c) { return c.problem.dtype; }),
      F::axis("sparse_mode", &K::sparse_mode, {{0, "0"}, {2, "2"}},
              [](const SelectedCase& c) { return c.problem.sparse_mode; }),
      F::axis("mask", &K::mask, every<spec::SelectedMask>(),
              [](const SelectedCase& c) { return c.problem.atten_mask; }),
      F::axis("head_dims", &K::head_dims,
              in_order<HeadDims>({"192x192", "192x128", "128x128", "128x192"}),
              [](const SelectedCase& c) { return head_dims_of(c.problem); }),
      F::axis("group", &K::group, in_order<Group>({"one", "few", "sixteen", "most"}),
              [](const SelectedCase& c) { return group_of(c.problem); }),
      F::axis("heads_kv", &K::heads, in_order<KeyHeads>({"one", "several"}),
              [](const SelectedCase& c) {
                return c.problem.heads_kv == 1 ? KeyHeads::one : KeyHeads::several;
              }),
      F::axis("block_size", &K::block_size,
              {{16, "16"},
               {32, "32"},
               {48, "48"},
               {64, "64"},
               {80, "80"},
               {96, "96"},
               {112, "112"},
               {128, "128"}},
              [](const SelectedCase& c) { return c.problem.selected_block_size; }),
      F::axis("block_count", &K::block_count,
              in_order<BlockCount>({"one", "two", "few", "some", "sixteen", "many", "most"}),
              [](const SelectedCase& c) { return block_count_of(c.problem); }),
      F::axis("lists", &K::lists,
              words({"shuffled", "identity", "ascending", "diagonal_first", "anchored",
                     "duplicates", "all_equal", "last_block", "per_head", "shared", "causal"}),
              [](const SelectedCase& c) -> std::string_view { return c.patterns.lists; }),
      F::axis("queries", &K::queries,
              in_order<Queries>({"one", "edge", "shorter", "equal", "longer"}),
              [](const SelectedCase& c) { return queries_of(c.problem); }),
      F::axis("keys", &K::keys, in_order<Keys>({"listed", "one_more", "more"}),
              [](const SelectedCase& c) { return keys_of(c.problem); }),
      F::axis("batch", &K::batch, in_order<Batch>({"single", "alike", "unequal", "many"}),
              [](const SelectedCase& c) { return batch_of(c.problem); }),
      F::axis("inputs", &K::inputs, drawn_stridings(),
              [](const SelectedCase& c) { return drawn_striding_of(c.inputs); }),
      F::axis("outputs", &K::outputs, drawn_stridings(),
              [](const SelectedCase& c) { return drawn_striding_of(c.outputs); }),
      F::drawn("mask_dtype", &K::mask_dtype, only({DType::boolean, DType::uint8})),
      F::drawn("track", &K::track, only({Track::bound, Track::exact, Track::exact_staged})),
      // The profile overflow_fp16 needs sequence lengths of its own: only corner cases use it.
      F::drawn("profile", &K::profile,
               words({"normal", "peaked", "cancelling", "all_positive", "offset", "equal_values",
                      "outliers", "subnormal_fp16", "large_exponent", "tiny_dy", "huge_dy",
                      "sparse_dy"})),
      F::drawn("scale", &K::scale,
               Named<Scale>{{Scale::ordinary, "ordinary"},
                            {Scale::one, "one"},
                            {Scale::odd, "odd"},
                            {Scale::negative, "negative"},
                            {Scale::zero, "zero"}}),
  });
  return table;
}

}  // namespace selected

const Axes* Suite<spec::NsaSelectedAttentionGrad>::axes() {
  static const Axes all{Op::name, selected::choice_space(), selected::factors().axes()};
  return &all;
}

Choice Suite<spec::NsaSelectedAttentionGrad>::choice_of(const Case<Op>& c) {
  return selected::factors().read(c);
}

std::vector<Size> Suite<spec::NsaSelectedAttentionGrad>::sizes(const Case<Op>& c) {
  constexpr std::int64_t of_16_bits = 0xffff;
  const auto& p = c.problem;
  const std::int64_t tokens = std::max(query_extents(p).tokens(), key_extents(p).tokens());
  const std::string_view of_type =
      p.dtype == spec::DType::fp16 ? "heads of a group, fp16" : "heads of a group, bf16";
  return {{of_type, p.group(), 0, multiples(1, 32)},
          {"sequences", p.batch},
          {"block size", p.selected_block_size, 0, multiples(16, 128)},
          {"blocks of a list", p.selected_block_count, 0, multiples(1, 32)},
          {"tokens", tokens, of_16_bits}};
}

}  // namespace assay::conformance
