#pragma once

#include <cstdint>
#include <vector>

#include "flash_attention_score_grad_sampling.hpp"
#include "pairwise.hpp"

namespace assay::conformance::flash {

/// How long the two sequences are, compared with each other and with the tiles.
enum class Lengths : std::uint8_t { equal, shorter_q, longer_q, one_query, one_key, tile_edges };
/// pre_tokens and next_tokens. ignored: small numbers where the mode does not read them.
enum class Window : std::uint8_t { unbounded, causal, band, negative_next, negative_pre, ignored };
enum class Scale : std::uint8_t { ordinary, negative, one, odd, zero };

/// One value per category: what the pairwise cover and the random cases choose.
struct Categories {
  struct Masking {
    std::int64_t sparse_mode;
    spec::MaskShape shape;
  };
  struct Heads {
    std::int64_t q, kv;
  };
  spec::FlashSurface surface;
  spec::Product product;
  spec::Layout layout;
  spec::DType dtype;
  Masking masking;
  spec::DType mask_dtype;
  std::string_view pattern;
  Window window;
  Heads heads;
  std::int64_t head_dim;
  bool narrow_value;  ///< head_dim_v below head_dim
  Lengths lengths;
  spec::Striding inputs, outputs;
  Track track;
  std::string_view profile;
  Scale scale;
};

/// Number of values of each category, in the order of the members of `Categories`.
std::vector<std::size_t> category_sizes();

/// What a complete choice stands for.
Categories decode(const Choice& choice);

/// False where values chosen so far exclude each other: by a row, because one of them would mean
/// nothing, or because no gradient would be left to judge.
bool admissible_categories(const Choice& choice);

}  // namespace assay::conformance::flash
