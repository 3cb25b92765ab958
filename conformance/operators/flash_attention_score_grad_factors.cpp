#include "flash_attention_score_grad_factors.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace assay::conformance::flash {
namespace {

using spec::DType;
using spec::MaskShape;
using spec::Striding;

constexpr spec::FlashSurface surfaces[] = {spec::FlashSurface::g1, spec::FlashSurface::g2};
constexpr spec::Product products[] = {spec::Product::a2, spec::Product::a3};
constexpr spec::Layout layouts[] = {spec::Layout::bsh, spec::Layout::sbh, spec::Layout::bsnd,
                                    spec::Layout::bnsd};
constexpr DType dtypes[] = {DType::fp16, DType::bf16, DType::fp32};
constexpr Categories::Masking maskings[] = {
    {0, MaskShape::absent},   {0, MaskShape::ss},         {0, MaskShape::one_one_ss},
    {0, MaskShape::b_one_ss}, {0, MaskShape::bnss},       {1, MaskShape::absent},
    {1, MaskShape::ss},       {1, MaskShape::one_one_ss}, {1, MaskShape::b_one_ss},
    {1, MaskShape::bnss},     {2, MaskShape::absent},     {2, MaskShape::compressed},
    {3, MaskShape::absent},   {3, MaskShape::compressed}, {4, MaskShape::compressed}};
constexpr DType mask_dtypes[] = {DType::boolean, DType::uint8};
// all_dead leaves nothing to judge but zeros: it is a corner.
constexpr std::string_view patterns[] = {"random",    "open",      "causal",  "causal_right",
                                         "band",      "dead_rows", "checker", "sparse",
                                         "documents", "padding"};
constexpr Window windows[] = {Window::unbounded,     Window::causal,       Window::band,
                              Window::negative_next, Window::negative_pre, Window::ignored};
constexpr Categories::Heads head_counts[] = {{2, 2}, {4, 2}, {3, 1}, {8, 1}, {1, 1}, {6, 3}};
constexpr std::int64_t head_dims[] = {1, 8, 16, 33, 64, 72, 80, 96, 128, 129, 192, 256, 512};
constexpr bool narrow_values[] = {false, true};
constexpr Lengths lengths[] = {Lengths::equal,     Lengths::shorter_q, Lengths::longer_q,
                               Lengths::one_query, Lengths::one_key,   Lengths::tile_edges};
constexpr Striding stridings[] = {Striding::contiguous, Striding::padded, Striding::transposed};
constexpr Track tracks[] = {Track::bound, Track::a1, Track::a2};
// overflow_fp16 needs lengths of its own: it is a corner.
constexpr std::string_view profile_names[] = {
    "normal",   "peaked",         "cancelling",     "all_positive", "offset",  "equal_values",
    "outliers", "subnormal_fp16", "large_exponent", "tiny_dy",      "huge_dy", "sparse_dy"};
constexpr Scale scales[] = {Scale::ordinary, Scale::negative, Scale::one, Scale::odd, Scale::zero};

/// Categories by position, as decoded below.
enum Category : std::size_t {
  surface,
  product,
  layout,
  dtype,
  masking,
  mask_dtype,
  pattern,
  window,
  heads,
  head_dim,
  narrow_value,
  length,
  inputs,
  outputs,
  track,
  profile,
  scale,
  category_count
};

/// A choice that may be incomplete: every question is answered "no" where nothing is decided.
class Partial {
 public:
  explicit Partial(const Choice& choice) : choice_(choice) {}

  bool decided(Category category) const { return choice_[category] != undecided; }
  template <class Values, class Predicate>
  bool is(Category category, const Values& values, Predicate&& predicate) const {
    return decided(category) && predicate(values[choice_[category]]);
  }
  template <class Values, class Value>
  bool equals(Category category, const Values& values, const Value& value) const {
    return decided(category) && values[choice_[category]] == value;
  }
  template <class Values, class Value>
  bool differs(Category category, const Values& values, const Value& value) const {
    return decided(category) && !(values[choice_[category]] == value);
  }

 private:
  const Choice& choice_;
};

bool is_user_mask(const Categories::Masking& m) {
  return m.shape != MaskShape::absent && m.shape != MaskShape::compressed;
}

/// Whether one of a mask's own categories means nothing with this masking.
bool mask_conflict(const Partial& p) {
  const auto masked = [&](auto&& predicate) { return p.is(masking, maskings, predicate); };
  const bool without_pattern = masked([](const auto& m) { return !is_user_mask(m); });
  const bool absent = masked([](const auto& m) { return m.shape == MaskShape::absent; });
  const bool reads_window = masked([](const auto& m) {
    return (m.sparse_mode == 0 && is_user_mask(m)) || m.sparse_mode == 4;
  });
  const bool ignores_window =
      masked([](const auto& m) { return m.sparse_mode != 0 && m.sparse_mode != 4; });
  if (without_pattern && p.differs(pattern, patterns, "random")) return true;
  if (absent && p.differs(mask_dtype, mask_dtypes, DType::boolean)) return true;
  if (reads_window) return p.equals(window, windows, Window::ignored);
  if (ignores_window)
    return p.is(window, windows,
                [](Window w) { return w != Window::unbounded && w != Window::ignored; });
  return absent && p.differs(window, windows, Window::unbounded);
}

/// Whether so few pairs would be kept that the case could turn out empty.
bool leaves_nothing(const Partial& p) {
  const bool short_side = p.is(
      length, lengths, [](Lengths l) { return l == Lengths::one_query || l == Lengths::one_key; });
  const bool negative_window = p.is(window, windows, [](Window w) {
    return w == Window::negative_next || w == Window::negative_pre;
  });
  const bool thin_pattern = p.is(pattern, patterns, [](std::string_view name) {
    return name != "open" && name != "random" && name != "padding";
  });
  const bool window_confines = p.is(
      window, windows, [](Window w) { return w != Window::unbounded && w != Window::ignored; });
  const bool one_query = p.equals(length, lengths, Lengths::one_query);
  if (one_query && p.equals(profile, profile_names, "sparse_dy")) return true;
  return (short_side && (negative_window || thin_pattern)) || (negative_window && thin_pattern) ||
         (thin_pattern && window_confines && p.differs(pattern, patterns, "checker"));
}

bool profile_conflict(const Partial& p) {
  const bool lattice = p.differs(track, tracks, Track::bound);
  const bool special = p.differs(profile, profile_names, "normal");
  const bool other_scale = p.differs(scale, scales, Scale::ordinary);
  // The lattice chooses values and scale by itself; hard data with a large scale would only loosen
  // the bound.
  if ((lattice && (special || other_scale)) || (special && other_scale)) return true;
  if (p.equals(profile, profile_names, "subnormal_fp16") && p.differs(dtype, dtypes, DType::fp16))
    return true;
  return p.equals(head_dim, head_dims, 1) &&
         (lattice || p.equals(narrow_value, narrow_values, true));
}

}  // namespace

std::vector<std::size_t> category_sizes() {
  return {std::size(surfaces),      std::size(products),      std::size(layouts),
          std::size(dtypes),        std::size(maskings),      std::size(mask_dtypes),
          std::size(patterns),      std::size(windows),       std::size(head_counts),
          std::size(head_dims),     std::size(narrow_values), std::size(lengths),
          std::size(stridings),     std::size(stridings),     std::size(tracks),
          std::size(profile_names), std::size(scales)};
}

Categories decode(const Choice& c) {
  return {.surface = surfaces[c[surface]],
          .product = products[c[product]],
          .layout = layouts[c[layout]],
          .dtype = dtypes[c[dtype]],
          .masking = maskings[c[masking]],
          .mask_dtype = mask_dtypes[c[mask_dtype]],
          .pattern = patterns[c[pattern]],
          .window = windows[c[window]],
          .heads = head_counts[c[heads]],
          .head_dim = head_dims[c[head_dim]],
          .narrow_value = narrow_values[c[narrow_value]],
          .lengths = lengths[c[length]],
          .inputs = stridings[c[inputs]],
          .outputs = stridings[c[outputs]],
          .track = tracks[c[track]],
          .profile = profile_names[c[profile]],
          .scale = scales[c[scale]]};
}

bool admissible_categories(const Choice& choice) {
  const Partial partial(choice);
  return !mask_conflict(partial) && !leaves_nothing(partial) && !profile_conflict(partial);
}

}  // namespace assay::conformance::flash
