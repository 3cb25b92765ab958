#include "operators/flash_attention_score_grad/plan/factors.hpp"

#include <array>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "plan/choice_values.hpp"

namespace assay::conformance::flash {
namespace {

using spec::DType;
using spec::FlashSurface;
using spec::Layout;
using spec::MaskShape;
using spec::Product;
using spec::PseShape;
using spec::StatisticsOrder;
using spec::Striding;

constexpr std::array surfaces = {FlashSurface::g1, FlashSurface::g2, FlashSurface::u1,
                                 FlashSurface::u2, FlashSurface::u3, FlashSurface::u4};
constexpr std::array products = {Product::a2, Product::a3};
constexpr std::array layouts = {Layout::bsh, Layout::sbh, Layout::bsnd, Layout::bnsd, Layout::tnd};
constexpr std::array dtypes = {DType::fp16, DType::bf16, DType::fp32};
constexpr std::array<std::int64_t, 9> sparse_modes = {0, 1, 2, 3, 4, 5, 6, 7, 8};
constexpr std::array pse_types = {Pse::absent, Pse::type_0, Pse::type_1, Pse::type_2, Pse::type_3};
constexpr std::array mask_shapes = {MaskShape::absent,
                                    MaskShape::ss,
                                    MaskShape::one_one_ss,
                                    MaskShape::b_one_ss,
                                    MaskShape::bnss,
                                    MaskShape::compressed,
                                    MaskShape::compressed_one_one_ss,
                                    MaskShape::compressed_b_one_ss,
                                    MaskShape::compressed_bnss};
constexpr std::array dropouts = {Dropout::off, Dropout::exact, Dropout::granules};
constexpr std::array groups = {Group::one, Group::some, Group::all};
constexpr std::array head_dims = {HeadDim::small, HeadDim::odd,  HeadDim::eights,
                                  HeadDim::tiles, HeadDim::wide, HeadDim::widest};
constexpr std::array length_classes = {Lengths::equal,      Lengths::shorter_q, Lengths::longer_q,
                                       Lengths::one_query,  Lengths::one_key,   Lengths::paired,
                                       Lengths::unequal,    Lengths::empty_q,   Lengths::empty_kv,
                                       Lengths::empty_both, Lengths::single,    Lengths::many};
constexpr std::array stridings = {Striding::contiguous, Striding::padded, Striding::transposed};
constexpr std::array mask_dtypes = {DType::boolean, DType::uint8};
// all_dead leaves nothing to judge but zeros: it is a corner.
constexpr std::array<std::string_view, 10> patterns = {
    "random",    "open",    "causal", "causal_right", "band",
    "dead_rows", "checker", "sparse", "documents",    "padding"};
constexpr std::array windows = {Window::unbounded,     Window::causal,       Window::band,
                                Window::negative_next, Window::negative_pre, Window::ignored};
constexpr std::array prefixes = {Prefix::absent, Prefix::least, Prefix::all, Prefix::between,
                                 Prefix::ignored};
constexpr std::array keeps = {Keep::one, Keep::one_with_mask, Keep::half, Keep::most, Keep::tiny};
// all_dropped leaves nothing to judge but zeros.
constexpr std::array<std::string_view, 3> drops = {"random", "all_kept", "last_bits"};
constexpr std::array pse_shapes = {PseShape::absent,      PseShape::bnss,        PseShape::bn1s,
                                   PseShape::one_nss,     PseShape::bnhs,        PseShape::one_nhs,
                                   PseShape::packed_bn1s, PseShape::packed_bnss, PseShape::slopes_n,
                                   PseShape::slopes_bn};
constexpr std::array starts = {Start::absent, Start::equal, Start::query_ahead, Start::key_ahead,
                               Start::query_alone};
constexpr std::array orders = {StatisticsOrder::packed, StatisticsOrder::same_as_input};
constexpr std::array ropes = {Rope::absent, Rope::eight, Rope::part, Rope::whole};
constexpr std::array narrow_values = {false, true};
constexpr std::array tracks = {Track::bound, Track::a1, Track::a2};
// overflow_fp16 needs lengths of its own: it is a corner.
constexpr std::array<std::string_view, 12> profile_names = {
    "normal",   "peaked",         "cancelling",     "all_positive", "offset",  "equal_values",
    "outliers", "subnormal_fp16", "large_exponent", "tiny_dy",      "huge_dy", "sparse_dy"};
constexpr std::array scales = {Scale::ordinary, Scale::negative, Scale::one, Scale::odd,
                               Scale::zero};

template <class Enum>
std::string_view spelling(Enum value) {
  return spec::to_string(value);
}

}  // namespace

std::vector<std::size_t> factor_sizes() {
  return {surfaces.size(),     products.size(),      layouts.size(),        dtypes.size(),
          sparse_modes.size(), pse_types.size(),     mask_shapes.size(),    dropouts.size(),
          groups.size(),       head_dims.size(),     length_classes.size(), stridings.size(),
          stridings.size(),    mask_dtypes.size(),   patterns.size(),       windows.size(),
          prefixes.size(),     keeps.size(),         drops.size(),          pse_shapes.size(),
          starts.size(),       orders.size(),        ropes.size(),          narrow_values.size(),
          tracks.size(),       profile_names.size(), scales.size()};
}

Categories decode(const Choice& c) {
  return {.surface = value_of(c, surface, surfaces),
          .product = value_of(c, product, products),
          .layout = value_of(c, layout, layouts),
          .dtype = value_of(c, dtype, dtypes),
          .sparse_mode = value_of(c, sparse_mode, sparse_modes),
          .pse = value_of(c, pse, pse_types),
          .mask = value_of(c, mask, mask_shapes),
          .dropout = value_of(c, dropout, dropouts),
          .group = value_of(c, group, groups),
          .head_dim = value_of(c, head_dim, head_dims),
          .lengths = value_of(c, lengths, length_classes),
          .inputs = value_of(c, inputs, stridings),
          .outputs = value_of(c, outputs, stridings),
          .mask_dtype = value_of(c, mask_dtype, mask_dtypes),
          .pattern = value_of(c, pattern, patterns),
          .window = value_of(c, window, windows),
          .prefix = value_of(c, prefix, prefixes),
          .keep = value_of(c, keep, keeps),
          .drop = value_of(c, drop, drops),
          .pse_shape = value_of(c, pse_shape, pse_shapes),
          .start = value_of(c, start, starts),
          .statistics = value_of(c, statistics, orders),
          .rope = value_of(c, rope, ropes),
          .narrow_value = value_of(c, narrow_value, narrow_values),
          .track = value_of(c, track, tracks),
          .profile = value_of(c, profile, profile_names),
          .scale = value_of(c, scale, scales)};
}

std::string_view name_of(Factor factor) {
  constexpr std::array<std::string_view, factor_count> names = {
      "surface",    "product", "layout",       "dtype",   "sparse_mode", "pse_type",  "mask",
      "dropout",    "group",   "head_dim",     "lengths", "inputs",      "outputs",   "mask_dtype",
      "pattern",    "window",  "prefix",       "keep",    "drop",        "pse_shape", "start",
      "statistics", "rope",    "narrow_value", "track",   "profile",     "scale"};
  return names.at(factor);
}

std::string_view name_of(Factor axis, std::size_t value) {
  switch (axis) {
    case surface:
      return spelling(surfaces.at(value));
    case product:
      return spelling(products.at(value));
    case layout:
      return spelling(layouts.at(value));
    case dtype:
      return spelling(dtypes.at(value));
    case mask:
      return spelling(mask_shapes.at(value));
    case inputs:
    case outputs:
      return spelling(stridings.at(value));
    case sparse_mode:
      return nth<9>({"0", "1", "2", "3", "4", "5", "6", "7", "8"}, value);
    case pse:
      return nth<5>({"none", "0", "1", "2", "3"}, value);
    case dropout:
      return nth<3>({"off", "exact", "granules"}, value);
    case group:
      return nth<3>({"one", "some", "all"}, value);
    case head_dim:
      return nth<6>({"small", "odd", "eights", "tiles", "wide", "widest"}, value);
    case lengths:
      return nth<12>({"equal", "shorter_q", "longer_q", "one_query", "one_key", "paired", "unequal",
                      "empty_q", "empty_kv", "empty_both", "single", "many"},
                     value);
    default:
      throw std::invalid_argument("name_of: " + std::string(name_of(axis)) + " is no axis");
  }
}

}  // namespace assay::conformance::flash
