#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "attention/plan/choices.hpp"
#include "operators/flash_attention_score_grad/plan/sampling.hpp"
#include "plan/drawn_cases.hpp"
#include "plan/factors.hpp"

namespace assay::conformance::attention::flash {

/// pseType, where there is a pse.
enum class Pse : std::uint8_t { absent, type_0, type_1, type_2, type_3 };
/// off: keep_prob 1.
enum class Dropout : std::uint8_t { off, exact, granules };
/// Query heads of a key head: one, some, all.
enum class Group : std::uint8_t { one, some, all };
/// small: below 16; tiles: multiples of 16 to 128; eights: of 8 alone; odd: of neither; wide: 129
/// to 512; widest: beyond.
enum class HeadDim : std::uint8_t { small, odd, eights, tiles, wide, widest };
/// equal to one_key: all sequences alike, Sq compared with Skv. paired to many, TND: of differing
/// lengths, Sq = Skv in each; not so; some without queries, without keys, of both kinds; one
/// sequence; 16 and more.
enum class LengthsKind : std::uint8_t {
  equal,
  shorter_q,
  longer_q,
  one_query,
  one_key,
  paired,
  unequal,
  empty_q,
  empty_kv,
  empty_both,
  single,
  many
};
/// pre_tokens and next_tokens. ignored: small numbers where the mode does not read them.
enum class WindowKind : std::uint8_t {
  unbounded,
  causal,
  band,
  negative_next,
  negative_pre,
  ignored
};
/// Entries: none; the least that is documented; all keys; any between; given where nothing reads
///          it.
enum class Prefix : std::uint8_t { absent, least, all, between, ignored };
/// keep_prob; one_with_mask: 1, with a drop mask of ones.
enum class Keep : std::uint8_t { one, one_with_mask, half, most, tiny };
/// Start indices: none, equal ones, queries ahead, keys ahead, of queries alone.
enum class Start : std::uint8_t { absent, equal, query_ahead, key_ahead, query_alone };
/// Head size of the rope part: none, 8, part of head_dim, as large as it.
enum class Rope : std::uint8_t { absent, eight, part, whole };
using attention::Scale;

/// One value per factor: what the pairwise cover and the random cases choose.
struct Categories {
  spec::FlashEntryPoint entry_point;
  spec::Product product;
  spec::Layout layout;
  spec::DType dtype;
  std::int64_t sparse_mode;
  Pse pse;
  spec::MaskShape mask;
  Dropout dropout;
  Group group;
  HeadDim head_dim;
  LengthsKind lengths;
  spec::Striding inputs, outputs;
  spec::DType mask_dtype;
  std::string_view pattern;
  WindowKind window;
  Prefix prefix;
  Keep keep;
  std::string_view drop;
  spec::PseShape pse_shape;
  Start start;
  spec::SoftmaxInLayout in_layout;
  spec::StatisticsOrder statistics;
  Rope rope;
  bool narrow_value;  ///< head_dim_v below head_dim
  Track track;
  std::string_view profile;
  Scale scale;
};

/// The one table of the factors.
const Factors<spec::FlashAttentionScoreGrad, Categories>& factors();

/// All factors with what excludes what. Made once.
const ChoiceSpace& choice_space();

/// How cases are drawn from them.
const Drawn<spec::FlashAttentionScoreGrad, Categories>& drawn();

}  // namespace assay::conformance::attention::flash
