#pragma once

#include <cstdint>
#include <string_view>

#include "assay/conformance/case/case.hpp"
#include "assay/spec/striding.hpp"
#include "compression/problem.hpp"

namespace assay::conformance::compression {

/// Classes of the number of heads: 1; 2 to 15; 16 and more.
enum class Heads : std::uint8_t { one, few, many };
/// Classes of the head size: 16; up to 112; up to 192; larger. Sizes that are not multiples of 16
/// have their own test cases.
enum class HeadDim : std::uint8_t { least, narrow, wide, widest };
/// Classes of the quotient window size / stride. part: less than 2; two: 2; few: 3 or 4; odd: more
/// than 2 and not a whole number; many: 5 and more; none: 1, for operators that allow it.
enum class Overlap : std::uint8_t { part, two, few, odd, many, none };
/// Classes of the sequence lengths. one_window: every sequence has one window. The other classes,
/// in the order of the enumerators: one sequence; 16 and more sequences; an empty first sequence;
/// other empty sequences; a first, last or middle sequence that is too short for a window; equal
/// lengths; other lengths.
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
/// Classes by the tokens after the last window of a sequence. none: windows cover every token of
/// each sequence that has a window.
enum class Tail : std::uint8_t { none, some };
/// Classes of the number of windows: up to 64; more than 64.
enum class Amount : std::uint8_t { few, beyond };

/// One value of each factor (property that the test plan varies). A case is made from these values.
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

/// These functions return the class of a problem in each category. For a stride equal to the window
/// size, `overlap_of` returns `none` if the operator allows this (`may_lack_overlap`), otherwise
/// `part`.
Heads heads_of(const Problem& problem);
HeadDim head_dim_of(const Problem& problem);
Overlap overlap_of(const Problem& problem, bool may_lack_overlap);
LengthsKind lengths_of(const Problem& problem);
Tail tail_of(const Problem& problem);
Amount amount_of(const Problem& problem);

/// Returns whether a case with these values takes seconds to judge.
bool is_costly(const Categories& categories);

}  // namespace assay::conformance::compression
