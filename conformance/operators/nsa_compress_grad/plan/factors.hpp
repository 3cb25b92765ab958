#pragma once

#include <cstdint>
#include <string_view>

#include "operators/nsa_compress_grad/plan/sampling.hpp"
#include "plan/drawn_cases.hpp"
#include "plan/factors.hpp"

namespace assay::conformance::compress {

/// 1; 2 to 15; 16 and more.
enum class Heads : std::uint8_t { one, few, many };
/// 16; to 112; to 192; beyond. Sizes that are no multiple of 16 are corners.
enum class HeadDim : std::uint8_t { least, narrow, wide, widest };
/// Of windows: part: size below two strides; two: size of two strides; few: 3 or 4 strides; odd:
/// more than two, no whole number of them; many: 5 and more.
enum class Overlap : std::uint8_t { part, two, few, odd, many };
/// one_window: every sequence has one. Else, in this order: one sequence; 16 and more; a first one
/// without tokens; others without tokens; a first, last or other one too short for a window; all
/// alike; not so.
enum class LengthsKind : std::uint8_t {
  one_window,
  single,
  many,
  leading_empty,
  repeated,
  short_first,
  short_last,
  short_middle,
  equal,
  unequal
};
/// none: windows reach every token of the sequences that have windows.
enum class Tail : std::uint8_t { none, some };
/// Windows: to 64; beyond.
enum class Amount : std::uint8_t { few, beyond };

/// One value per factor: what the pairwise cover and the random cases choose.
struct Categories {
  spec::DType dtype;
  Heads heads;
  HeadDim head_dim;
  Overlap overlap;
  LengthsKind lengths;
  Tail tail;
  Amount amount;
  spec::Striding inputs, outputs;
  Track track;
  std::string_view profile;
};

/// The one table of the factors.
const Factors<spec::NsaCompressGrad, Categories>& factors();

/// All factors with what excludes what. Made once.
const ChoiceSpace& choice_space();

/// How cases are drawn from them.
const Drawn<spec::NsaCompressGrad, Categories>& drawn();

/// A case of the categories.
CompressCase draw_case(const Categories& categories, std::uint64_t seed);

}  // namespace assay::conformance::compress
