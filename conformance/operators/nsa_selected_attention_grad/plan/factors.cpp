#include "operators/nsa_selected_attention_grad/plan/factors.hpp"

#include <array>
#include <stdexcept>
#include <string>

#include "plan/choice_values.hpp"

namespace assay::conformance::selected {
namespace {

using spec::DType;
using spec::Product;
using spec::SelectedMask;
using spec::Striding;

constexpr std::array products = {Product::a2, Product::a3};
constexpr std::array dtypes = {DType::fp16, DType::bf16};
constexpr std::array<std::int64_t, 2> sparse_modes = {0, 2};
constexpr std::array masks = {SelectedMask::absent, SelectedMask::compressed};
constexpr std::array head_dims_classes = {HeadDims::wide, HeadDims::mixed, HeadDims::narrow,
                                          HeadDims::wide_value};
constexpr std::array groups = {Group::one, Group::few, Group::sixteen, Group::most};
constexpr std::array heads_classes = {Heads::one, Heads::several};
constexpr std::array<std::int64_t, 8> block_sizes = {16, 32, 48, 64, 80, 96, 112, 128};
constexpr std::array block_counts = {BlockCount::one,  BlockCount::two,     BlockCount::few,
                                     BlockCount::some, BlockCount::sixteen, BlockCount::many,
                                     BlockCount::most};
constexpr std::array<std::string_view, 11> list_names = {
    "shuffled",  "identity",   "ascending", "diagonal_first", "anchored", "duplicates",
    "all_equal", "last_block", "per_head",  "shared",         "causal"};
constexpr std::array query_classes = {Queries::one, Queries::edge, Queries::shorter, Queries::equal,
                                      Queries::longer};
constexpr std::array key_classes = {Keys::listed, Keys::one_more, Keys::more};
constexpr std::array batches = {Batch::single, Batch::alike, Batch::unequal, Batch::many};
constexpr std::array stridings = {Striding::contiguous, Striding::padded, Striding::transposed};
constexpr std::array mask_dtypes = {DType::boolean, DType::uint8};
constexpr std::array tracks = {Track::bound, Track::a1, Track::a2};
// overflow_fp16 needs lengths of its own: it is a corner.
constexpr std::array<std::string_view, 12> profile_names = {
    "normal",   "peaked",         "cancelling",     "all_positive", "offset",  "equal_values",
    "outliers", "subnormal_fp16", "large_exponent", "tiny_dy",      "huge_dy", "sparse_dy"};
constexpr std::array scales = {Scale::ordinary, Scale::one, Scale::odd, Scale::negative,
                               Scale::zero};

}  // namespace

std::vector<std::size_t> factor_sizes() {
  return {products.size(),
          dtypes.size(),
          sparse_modes.size(),
          masks.size(),
          head_dims_classes.size(),
          groups.size(),
          heads_classes.size(),
          block_sizes.size(),
          block_counts.size(),
          list_names.size(),
          query_classes.size(),
          key_classes.size(),
          batches.size(),
          stridings.size(),
          stridings.size(),
          mask_dtypes.size(),
          tracks.size(),
          profile_names.size(),
          scales.size()};
}

Categories decode(const Choice& c) {
  return {.product = value_of(c, product, products),
          .dtype = value_of(c, dtype, dtypes),
          .sparse_mode = value_of(c, sparse_mode, sparse_modes),
          .mask = value_of(c, mask, masks),
          .head_dims = value_of(c, head_dims, head_dims_classes),
          .group = value_of(c, group, groups),
          .heads = value_of(c, heads, heads_classes),
          .block_size = value_of(c, block_size, block_sizes),
          .block_count = value_of(c, block_count, block_counts),
          .lists = value_of(c, lists, list_names),
          .queries = value_of(c, queries, query_classes),
          .keys = value_of(c, keys, key_classes),
          .batch = value_of(c, batch, batches),
          .inputs = value_of(c, inputs, stridings),
          .outputs = value_of(c, outputs, stridings),
          .mask_dtype = value_of(c, mask_dtype, mask_dtypes),
          .track = value_of(c, track, tracks),
          .profile = value_of(c, profile, profile_names),
          .scale = value_of(c, scale, scales)};
}

std::string_view name_of(Factor factor) {
  constexpr std::array<std::string_view, factor_count> names = {
      "product",    "dtype",       "sparse_mode", "mask",    "head_dims", "group", "heads_kv",
      "block_size", "block_count", "lists",       "queries", "keys",      "batch", "inputs",
      "outputs",    "mask_dtype",  "track",       "profile", "scale"};
  return names.at(factor);
}

std::string_view name_of(Factor axis, std::size_t value) {
  switch (axis) {
    case product:
      return spec::to_string(products.at(value));
    case dtype:
      return spec::to_string(dtypes.at(value));
    case mask:
      return spec::to_string(masks.at(value));
    case inputs:
    case outputs:
      return spec::to_string(stridings.at(value));
    case lists:
      return list_names.at(value);
    case sparse_mode:
      return nth<2>({"0", "2"}, value);
    case head_dims:
      return nth<4>({"192x192", "192x128", "128x128", "128x192"}, value);
    case group:
      return nth<4>({"one", "few", "sixteen", "most"}, value);
    case heads:
      return nth<2>({"one", "several"}, value);
    case block_size:
      return nth<8>({"16", "32", "48", "64", "80", "96", "112", "128"}, value);
    case block_count:
      return nth<7>({"one", "two", "few", "some", "sixteen", "many", "most"}, value);
    case queries:
      return nth<5>({"one", "edge", "shorter", "equal", "longer"}, value);
    case keys:
      return nth<3>({"listed", "one_more", "more"}, value);
    case batch:
      return nth<4>({"single", "alike", "unequal", "many"}, value);
    default:
      throw std::invalid_argument("name_of: " + std::string(name_of(axis)) + " is no axis");
  }
}

}  // namespace assay::conformance::selected
