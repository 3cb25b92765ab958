#pragma once

#include "assay/conformance/plan/sizes.hpp"
#include "attention/flash/plan/categories.hpp"
#include "attention/flash/traits.hpp"
#include "plan/factors.hpp"
#include "plan/stridings.hpp"

namespace assay::conformance::attention::flash {

/// Returns the entry points for randomly drawn cases. sinks.hpp generates the cases of entry points
/// with a sink.
template <class EntryPoint>
Named<EntryPoint> drawn_entry_points() {
  Named<EntryPoint> drawn = every<EntryPoint>();
  std::erase_if(drawn, [](const auto& entry) { return has_sink(entry.first); });
  return drawn;
}

/// Returns the table of all factors.
template <class Op>
const Factors<Op, CategoriesOf<Op>>& factors() {
  using F = Factors<Op, CategoriesOf<Op>>;
  using K = CategoriesOf<Op>;
  using spec::DType;
  static const F table({
      F::axis("entry_point", &K::entry_point, drawn_entry_points<typename Op::EntryPoint>(),
              [](const Case<Op>& c) { return c.entry_point; }),
      F::axis("product", &K::product, every<spec::Product>(),
              [](const Case<Op>& c) { return c.product; }),
      F::axis("layout", &K::layout, every<spec::Layout>(),
              [](const Case<Op>& c) { return c.problem.input_layout; }),
      F::axis("dtype", &K::dtype, only({DType::fp16, DType::bf16, DType::fp32}),
              [](const Case<Op>& c) { return c.problem.dtype; }),
      F::axis("sparse_mode", &K::sparse_mode,
              in_order<std::int64_t>({"0", "1", "2", "3", "4", "5", "6", "7", "8"}),
              [](const Case<Op>& c) { return c.problem.sparse_mode; }),
      F::axis("pse_type", &K::pse, in_order<Pse>({"none", "0", "1", "2", "3"}),
              [](const Case<Op>& c) { return pse_of(c.problem); }),
      F::axis("mask", &K::mask, every<spec::MaskShape>(),
              [](const Case<Op>& c) { return c.problem.atten_mask; }),
      F::axis("dropout", &K::dropout, in_order<Dropout>({"off", "exact", "granules"}),
              [](const Case<Op>& c) { return dropout_of(c.problem); }),
      F::axis("group", &K::group, in_order<Group>({"one", "some", "all"}),
              [](const Case<Op>& c) { return group_of(c.problem); }),
      F::axis("head_dim", &K::head_dim,
              in_order<HeadDim>({"small", "odd", "eights", "tiles", "wide", "widest"}),
              [](const Case<Op>& c) { return head_dim_of(c.problem); }),
      F::axis(
          "lengths", &K::lengths,
          in_order<LengthsKind>({"equal", "shorter_q", "longer_q", "one_query", "one_key", "paired",
                                 "unequal", "empty_q", "empty_kv", "empty_both", "single", "many"}),
          [](const Case<Op>& c) { return lengths_of(c.problem); }),
      F::axis("inputs", &K::inputs, drawn_stridings(),
              [](const Case<Op>& c) { return drawn_striding_of(c.inputs); }),
      F::axis("outputs", &K::outputs, drawn_stridings(),
              [](const Case<Op>& c) { return drawn_striding_of(c.outputs); }),
      F::drawn("mask_dtype", &K::mask_dtype, only({DType::boolean, DType::uint8})),
      // The pattern all_dead is missing here, because only hand-written corner cases use it: it
      // masks all pairs, so all gradients are zero.
      F::drawn("pattern", &K::pattern,
               words({"random", "open", "causal", "causal_right", "band", "dead_rows", "checker",
                      "sparse", "documents", "padding"})),
      F::drawn("window", &K::window,
               in_order<WindowKind>(
                   {"unbounded", "causal", "band", "negative_next", "negative_pre", "ignored"})),
      F::drawn("prefix", &K::prefix,
               in_order<Prefix>({"absent", "least", "all", "between", "ignored"})),
      F::drawn("keep", &K::keep, in_order<Keep>({"one", "one_with_mask", "half", "most", "tiny"})),
      // The patterns all_kept and all_dropped are missing because they contradict keep_prob.
      F::drawn("drop", &K::drop, words({"random", "whole_rows", "last_bits"})),
      F::drawn("pse_shape", &K::pse_shape, every<spec::PseShape>()),
      F::drawn("start", &K::start,
               in_order<Start>({"absent", "equal", "query_ahead", "key_ahead", "query_alone"})),
      F::drawn("in_layout", &K::in_layout, every<spec::SoftmaxInLayout>()),
      F::drawn("statistics", &K::statistics, every<spec::StatisticsOrder>()),
      F::drawn("rope", &K::rope, in_order<Rope>({"absent", "eight", "part", "whole"})),
      F::drawn("narrow_value", &K::narrow_value, in_order<bool>({"no", "yes"})),
      F::drawn("track", &K::track, only({Track::bound, Track::exact, Track::exact_staged})),
      // The input profile overflow_fp16 is missing here, because it needs special sequence lengths.
      // Only hand-written corner cases use it.
      F::drawn("profile", &K::profile, words(Traits<Op>::drawn_profiles)),
      F::drawn("scale", &K::scale, in_order<Scale>({"ordinary", "negative", "one", "odd", "zero"})),
  });
  return table;
}

}  // namespace assay::conformance::attention::flash
