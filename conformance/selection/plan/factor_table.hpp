#pragma once

#include "plan/stridings.hpp"
#include "selection/plan/draws.hpp"
#include "selection/plan/factors.hpp"

namespace assay::conformance::selection {

using spec::DType;

template <class Op>
Named<HeadDims> head_dims() {
  if (Traits<Op>::may_widen_value)
    return in_order<HeadDims>({"192x192", "192x128", "128x128", "128x192"});
  return in_order<HeadDims>({"192x192", "192x128", "128x128"});
}

template <class Op>
const Factors<Op, Categories>& factors() {
  using F = Factors<Op, Categories>;
  using K = Categories;
  static const F table({
      F::axis("product", &K::product, every<spec::Product>(),
              [](const Case<Op>& c) { return c.product; }),
      F::axis("dtype", &K::dtype, only({DType::fp16, DType::bf16}),
              [](const Case<Op>& c) { return c.problem.dtype; }),
      F::axis("sparse_mode", &K::sparse_mode, {{0, "0"}, {2, "2"}},
              [](const Case<Op>& c) { return c.problem.sparse_mode; }),
      F::axis("mask", &K::mask, every<spec::SelectedMask>(),
              [](const Case<Op>& c) { return c.problem.atten_mask; }),
      F::axis("head_dims", &K::head_dims, head_dims<Op>(),
              [](const Case<Op>& c) { return head_dims_of(c.problem); }),
      F::axis("group", &K::group, in_order<Group>({"one", "few", "sixteen", "most"}),
              [](const Case<Op>& c) { return group_of(c.problem); }),
      F::axis("heads_kv", &K::heads, in_order<KeyHeads>({"one", "several"}),
              [](const Case<Op>& c) {
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
              [](const Case<Op>& c) { return c.problem.selected_block_size; }),
      F::axis("block_count", &K::block_count,
              in_order<BlockCount>({"one", "two", "few", "some", "sixteen", "many", "most"}),
              [](const Case<Op>& c) { return block_count_of(c.problem); }),
      F::axis("lists", &K::lists,
              words({"shuffled", "identity", "ascending", "diagonal_first", "anchored",
                     "duplicates", "all_equal", "last_block", "per_head", "shared", "causal"}),
              [](const Case<Op>& c) -> std::string_view { return c.patterns.lists; }),
      F::axis("queries", &K::queries,
              in_order<Queries>({"one", "edge", "shorter", "equal", "longer"}),
              [](const Case<Op>& c) { return queries_of(c.problem); }),
      F::axis("keys", &K::keys, in_order<Keys>({"listed", "one_more", "more"}),
              [](const Case<Op>& c) { return keys_of(c.problem); }),
      F::axis("batch", &K::batch, in_order<Batch>({"single", "alike", "unequal", "many"}),
              [](const Case<Op>& c) { return batch_of(c.problem); }),
      F::axis("inputs", &K::inputs, drawn_stridings(),
              [](const Case<Op>& c) { return drawn_striding_of(c.inputs); }),
      F::axis("outputs", &K::outputs, drawn_stridings(),
              [](const Case<Op>& c) { return drawn_striding_of(c.outputs); }),
      F::drawn("mask_dtype", &K::mask_dtype, only({DType::boolean, DType::uint8})),
      F::drawn("track", &K::track, only({Track::bound, Track::exact, Track::exact_staged})),
      F::drawn("profile", &K::profile, Traits<Op>::profiles()),
      F::drawn("scale", &K::scale,
               Named<Scale>{{Scale::ordinary, "ordinary"},
                            {Scale::one, "one"},
                            {Scale::odd, "odd"},
                            {Scale::negative, "negative"},
                            {Scale::zero, "zero"}}),
  });
  return table;
}

}  // namespace assay::conformance::selection
