#include <concepts>
#include <utility>

#include "operators/flash_attention_score_grad/plan/factors.hpp"
#include "plan/choice_values.hpp"

namespace assay::conformance::flash {
namespace {

using spec::FlashSurface;
using spec::Layout;
using spec::MaskShape;
using spec::PseShape;
using spec::Striding;

template <std::predicate<const Categories&> Predicate>
Exclusion rule(std::string_view id, std::vector<std::size_t> factors, Predicate excludes) {
  return {id, std::move(factors),
          [excludes](const Choice& choice) { return excludes(decode(choice)); }};
}

template <class Value>
bool any_of(Value value, std::initializer_list<Value> values) {
  for (const Value one : values)
    if (one == value) return true;
  return false;
}

bool is_masked(const Categories& k) { return k.mask != MaskShape::absent; }
bool has_user_mask(const Categories& k) { return is_written_out(k.mask); }
bool has_windows(std::int64_t mode) { return mode == 0 || mode == 4 || mode >= 7; }
bool is_packed(const Categories& k) { return k.layout == Layout::tnd; }
bool has_slopes(const Categories& k) { return k.pse == Pse::type_2 || k.pse == Pse::type_3; }
bool is_compressed(PseShape shape) { return shape == PseShape::bnhs || shape == PseShape::one_nhs; }
bool is_lattice(const Categories& k) { return k.track != Track::bound; }

bool is_short(Lengths lengths) {
  return lengths == Lengths::one_query || lengths == Lengths::one_key;
}
bool is_negative(Window window) {
  return window == Window::negative_next || window == Window::negative_pre;
}
bool has_empty(Lengths lengths) {
  return any_of(lengths, {Lengths::empty_q, Lengths::empty_kv, Lengths::empty_both});
}
/// Whether every sequence can have as many keys as queries.
bool can_be_square(Lengths lengths) {
  return any_of(lengths, {Lengths::equal, Lengths::paired, Lengths::single, Lengths::many});
}
bool is_thin(std::string_view pattern) {
  return pattern != "open" && pattern != "random" && pattern != "padding";
}

/// What would mean nothing.
std::vector<Exclusion> senseless() {
  return {
      rule("", {sparse_mode, mask, pattern},
           [](const Categories& k) {
             return (!has_user_mask(k) || k.sparse_mode == 5) && k.pattern != "random";
           }),
      rule("", {mask, mask_dtype},
           [](const Categories& k) {
             return !is_masked(k) && k.mask_dtype != spec::DType::boolean;
           }),
      rule("", {sparse_mode, mask, window},
           [](const Categories& k) {
             if (k.window == Window::unbounded) return false;
             const bool reads = is_masked(k) && has_windows(k.sparse_mode);
             return reads == (k.window == Window::ignored) ||
                    (k.window == Window::ignored && has_windows(k.sparse_mode));
           }),
      rule("", {dropout, keep},
           [](const Categories& k) {
             return (k.dropout == Dropout::off) !=
                    (k.keep == Keep::one || k.keep == Keep::one_with_mask);
           }),
      rule("", {dropout, drop},
           [](const Categories& k) { return k.dropout == Dropout::off && k.drop != "random"; }),
      // The lattice chooses values and scale by itself; hard data with a large scale would only
      // loosen the bound.
      rule("", {track, profile},
           [](const Categories& k) { return is_lattice(k) && k.profile != "normal"; }),
      rule("", {track, scale},
           [](const Categories& k) { return is_lattice(k) && k.scale != Scale::ordinary; }),
      rule("", {profile, scale},
           [](const Categories& k) { return k.profile != "normal" && k.scale != Scale::ordinary; }),
      rule("", {dtype, profile},
           [](const Categories& k) {
             return k.profile == "subnormal_fp16" && k.dtype != spec::DType::fp16;
           }),
      // keep_prob of the lattice is a power of two, and slopes times distances are no codes of it.
      rule("", {keep, track},
           [](const Categories& k) {
             return is_lattice(k) && (k.keep == Keep::most || k.keep == Keep::tiny);
           }),
      rule("", {pse, track}, [](const Categories& k) { return is_lattice(k) && has_slopes(k); }),
  };
}

/// What could leave no gradient to judge, or would cost too much.
std::vector<Exclusion> fruitless() {
  return {
      rule("", {lengths, window},
           [](const Categories& k) {
             return (is_short(k.lengths) || k.lengths == Lengths::many) && is_negative(k.window);
           }),
      rule("", {pattern, lengths},
           [](const Categories& k) { return is_short(k.lengths) && is_thin(k.pattern); }),
      rule("", {pattern, window},
           [](const Categories& k) {
             if (!is_thin(k.pattern)) return false;
             const bool confined = k.window != Window::unbounded && k.window != Window::ignored;
             return is_negative(k.window) || (confined && k.pattern != "checker");
           }),
      rule("", {lengths, profile},
           [](const Categories& k) {
             return k.lengths == Lengths::one_query && k.profile == "sparse_dy";
           }),
      rule("", {lengths, keep},
           [](const Categories& k) { return is_short(k.lengths) && k.keep == Keep::tiny; }),
      rule("", {lengths, drop},
           [](const Categories& k) {
             return k.lengths == Lengths::one_key && k.drop == "last_bits";
           }),
      // Padded, 1024 rows mean as many queries and keys: corners.
      rule("", {layout, pse_shape},
           [](const Categories& k) { return !is_packed(k) && is_compressed(k.pse_shape); }),
      // Every sequence of such a mask brings 4 MiB.
      rule("", {mask, lengths},
           [](const Categories& k) {
             return any_of(k.mask, {MaskShape::compressed_b_one_ss, MaskShape::compressed_bnss}) &&
                    (k.lengths == Lengths::many || has_empty(k.lengths));
           }),
      // The forward of packed sequences has no such window, hence no statistics.
      rule("", {layout, sparse_mode, window},
           [](const Categories& k) {
             return is_packed(k) && k.sparse_mode == 0 && k.window == Window::negative_next;
           }),
  };
}

/// The cells of the product matrix that the documents leave out.
std::vector<Exclusion> rows_of_products() {
  std::vector<Exclusion> cells;
  for (const auto& [entry, entry_name] : spec::spellings_of<FlashSurface>.entries)
    for (const auto& [on, product_name] : spec::spellings_of<spec::Product>.entries) {
      if (spec::supports(entry, on)) continue;
      cells.push_back(rule(spec::product_row(entry, on), {surface, product},
                           [entry = entry, on = on](const Categories& k) {
                             return k.surface == entry && k.product == on;
                           }));
    }
  return cells;
}

std::vector<Exclusion> rows_of_surfaces() {
  return {
      rule("FAG-C30", {surface, layout},
           [](const Categories& k) { return !is_unpadding(k.surface) && is_packed(k); }),
      rule("FAG-C31", {surface, layout},
           [](const Categories& k) { return is_unpadding(k.surface) && !is_packed(k); }),
      rule("FAG-C06", {surface, rope},
           [](const Categories& k) { return has_rope(k.surface) == (k.rope == Rope::absent); }),
      rule("FAG-C08", {surface, mask},
           [](const Categories& k) { return has_rope(k.surface) && !is_masked(k); }),
      rule("FAG-C09", {surface, pse},
           [](const Categories& k) { return has_rope(k.surface) && k.pse != Pse::absent; }),
      rule(
          "FAG-C10", {surface, keep},
          [](const Categories& k) { return has_rope(k.surface) && k.keep == Keep::one_with_mask; }),
      rule("FAG-C27", {surface, dtype},
           [](const Categories& k) { return has_rope(k.surface) && k.dtype != spec::DType::bf16; }),
      rule("FAG-C35", {surface, narrow_value},
           [](const Categories& k) { return k.surface == FlashSurface::u4 && k.narrow_value; }),
      rule("FAG-C44a", {surface, head_dim},
           [](const Categories& k) {
             return !has_rope(k.surface) && k.head_dim == HeadDim::widest;
           }),
      rule("FAG-C45", {surface, head_dim},
           [](const Categories& k) { return has_rope(k.surface) && k.head_dim == HeadDim::odd; }),
      rule("FAG-C61", {surface, dropout},
           [](const Categories& k) { return has_rope(k.surface) && k.dropout != Dropout::off; }),
      rule("FAG-C65", {surface, sparse_mode},
           [](const Categories& k) {
             return has_rope(k.surface) && (k.sparse_mode == 5 || k.sparse_mode == 6);
           }),
      // Disputed: corners.
      rule("FAG-C66", {surface, sparse_mode},
           [](const Categories& k) {
             return is_unpadding(k.surface) && !has_rope(k.surface) && k.sparse_mode == 5;
           }),
      rule("FAG-C76", {surface, pse},
           [](const Categories& k) {
             return !has_pse_type(k.surface) && k.pse != Pse::absent && k.pse != Pse::type_1;
           }),
      rule("FAG-C83", {surface, statistics},
           [](const Categories& k) {
             return !has_softmax_in_layout(k.surface) &&
                    k.statistics != spec::StatisticsOrder::packed;
           }),
      rule(
          "FAG-C84", {surface, start},
          [](const Categories& k) { return !has_pse_type(k.surface) && k.start != Start::absent; }),
  };
}

std::vector<Exclusion> rows_of_masks_and_lengths() {
  return {
      rule("FAG-C41b", {layout, lengths},
           [](const Categories& k) { return !is_packed(k) && has_empty(k.lengths); }),
      // Padded, every sequence has the length of the axis.
      rule("FAG-C05", {layout, lengths},
           [](const Categories& k) {
             return !is_packed(k) && any_of(k.lengths, {Lengths::paired, Lengths::unequal,
                                                        Lengths::single, Lengths::many});
           }),
      rule("FAG-C64", {layout, sparse_mode},
           [](const Categories& k) { return !is_packed(k) && k.sparse_mode >= 7; }),
      rule("FAG-C67", {sparse_mode, mask},
           [](const Categories& k) {
             const bool user_mode = k.sparse_mode <= 1 || k.sparse_mode == 5;
             return is_masked(k) && user_mode != has_user_mask(k);
           }),
      // With a batch or head axis a written mask means the same to everyone where packed sequences
      // are alike.
      rule("FAG-C67a", {layout, mask, lengths},
           [](const Categories& k) {
             return is_packed(k) && any_of(k.mask, {MaskShape::b_one_ss, MaskShape::bnss}) &&
                    k.lengths > Lengths::one_key && k.lengths != Lengths::single;
           }),
      // Negative windows are limited by the lengths of every sequence.
      rule("FAG-C68", {layout, lengths, window},
           [](const Categories& k) {
             return is_packed(k) && is_negative(k.window) &&
                    !any_of(k.lengths, {Lengths::equal, Lengths::shorter_q, Lengths::longer_q,
                                        Lengths::single});
           }),
      rule("FAG-C69", {sparse_mode, mask, window},
           [](const Categories& k) {
             if (k.sparse_mode < 7 || !is_masked(k)) return false;
             return is_negative(k.window) || (k.sparse_mode == 7 && k.window == Window::unbounded);
           }),
      // Mode 7 is a causal mask cut into pieces: no sequence has fewer keys than queries.
      rule("FAG-C69", {sparse_mode, mask, lengths},
           [](const Categories& k) {
             return k.sparse_mode == 7 && is_masked(k) &&
                    any_of(k.lengths, {Lengths::longer_q, Lengths::one_key, Lengths::empty_kv});
           }),
      rule("FAG-C72", {sparse_mode, mask, prefix},
           [](const Categories& k) {
             const bool reads = (k.sparse_mode == 5 || k.sparse_mode == 6) && is_masked(k);
             return reads == any_of(k.prefix, {Prefix::absent, Prefix::ignored});
           }),
  };
}

std::vector<Exclusion> rows_of_pse() {
  return {
      rule("FAG-C74", {sparse_mode, pse},
           [](const Categories& k) { return k.sparse_mode == 7 && k.pse != Pse::absent; }),
      rule("FAG-C75", {sparse_mode, pse, lengths},
           [](const Categories& k) {
             return k.sparse_mode == 8 && k.pse != Pse::absent && !can_be_square(k.lengths);
           }),
      rule("FAG-C75", {sparse_mode, pse, start},
           [](const Categories& k) {
             return k.sparse_mode == 8 && k.pse != Pse::absent &&
                    !any_of(k.start, {Start::absent, Start::equal});
           }),
      rule("FAG-C79", {pse, pse_shape},
           [](const Categories& k) {
             const bool slopes = any_of(k.pse_shape, {PseShape::slopes_n, PseShape::slopes_bn});
             if (k.pse == Pse::absent) return k.pse_shape != PseShape::absent;
             return k.pse_shape == PseShape::absent || slopes != has_slopes(k);
           }),
      rule("FAG-C79", {layout, pse_shape},
           [](const Categories& k) {
             return !is_packed(k) &&
                    any_of(k.pse_shape, {PseShape::packed_bn1s, PseShape::packed_bnss});
           }),
      rule("FAG-C80", {pse, lengths},
           [](const Categories& k) {
             return has_slopes(k) && !has_empty(k.lengths) && !can_be_square(k.lengths);
           }),
      // A bias of i - j alone is known where the mask is causal and the lengths are equal.
      rule("FAG-C81", {lengths, pse_shape},
           [](const Categories& k) {
             return is_compressed(k.pse_shape) && !can_be_square(k.lengths);
           }),
      rule("FAG-C81", {sparse_mode, mask, window, pse_shape},
           [](const Categories& k) {
             if (!is_compressed(k.pse_shape)) return false;
             if (!is_masked(k)) return true;
             if (k.sparse_mode == 0 || k.sparse_mode == 4) return k.window != Window::causal;
             return k.sparse_mode != 2 && k.sparse_mode != 3;
           }),
      rule("FAG-C82", {pse, lengths},
           [](const Categories& k) { return k.pse != Pse::absent && has_empty(k.lengths); }),
  };
}

}  // namespace

std::vector<Exclusion> exclusions() {
  return joined({senseless(), fruitless(), rows_of_products(), rows_of_surfaces(),
                 rows_of_masks_and_lengths(), rows_of_pse()});
}

const ChoiceSpace& choice_space() {
  static const ChoiceSpace space(factor_sizes(), exclusions());
  return space;
}

}  // namespace assay::conformance::flash
