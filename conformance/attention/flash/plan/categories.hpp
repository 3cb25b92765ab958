#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "assay/conformance/plan/sizes.hpp"
#include "assay/spec/attention_problem.hpp"
#include "attention/plan/choices.hpp"

namespace assay::conformance::attention::flash {

/// The position bias (pse): absent, or present with pseType 0, 1, 2 or 3.
enum class Pse : std::uint8_t { absent, type_0, type_1, type_2, type_3 };
/// Dropout. off: keep_prob is 1. exact and granules: the two sizes of drop mask that a kernel
/// accepts.
enum class Dropout : std::uint8_t { off, exact, granules };
/// The number of query heads that use the same key head: one; some; all of them.
enum class Group : std::uint8_t { one, some, all };
/// Head sizes in channels. small: below 16; tiles: multiples of 16 up to 128; eights: other
/// multiples of 8; odd: others up to 128; wide: 129 to 512; widest: above.
enum class HeadDim : std::uint8_t { small, odd, eights, tiles, wide, widest };
/// Classes of sequence lengths. In the classes from `equal` to `one_key`, all sequences have the
/// same lengths, and the class name compares Sq with Skv. The other classes exist for TND only.
/// paired: lengths differ, but Sq = Skv in each sequence. unequal: lengths differ. empty_q: one
/// sequence has no queries. empty_kv: one has no keys. empty_both: the batch has one sequence of
/// each of these two types. single: one sequence. many: 16 or more.
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
/// The window that pre_tokens and next_tokens describe. ignored: small numbers in a sparse mode
/// that does not read them.
enum class WindowKind : std::uint8_t {
  unbounded,
  causal,
  band,
  negative_next,
  negative_pre,
  ignored
};
/// The prefixes of sparse modes 5 and 6. least: the smallest prefix that the documents allow. all:
/// all keys. between: a number between these two. ignored: the call has a prefix, but the mode does
/// not read it.
enum class Prefix : std::uint8_t { absent, least, all, between, ignored };
/// Values of keep_prob. one_with_mask: keep_prob is 1, and the drop mask consists of ones.
enum class Keep : std::uint8_t { one, one_with_mask, half, most, tiny };
/// The start indices of queries and keys: none; equal; the queries start later; the keys start
/// later; only the queries have a start index.
enum class Start : std::uint8_t { absent, equal, query_ahead, key_ahead, query_alone };
/// The head size of the rope part: no rope, 8, a part of head_dim, or equal to head_dim.
enum class Rope : std::uint8_t { absent, eight, part, whole };
using attention::Scale;

/// One value for each factor (property of a case) except the entry point. The generator draws a
/// random case for each such combination: first combinations that cover all pairs of values, then
/// random ones.
struct Categories {
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
  bool narrow_value;  ///< true: head_dim_v is below head_dim
  Track track;
  std::string_view profile;
  Scale scale;
  /// True for a forward operator, because it limits the lengths of packed sequences. This member is
  /// not a factor.
  bool limits_lengths = false;
};

/// A choice: one value for each factor.
template <class Op>
struct CategoriesOf : Categories {
  typename Op::EntryPoint entry_point;
};

/// These functions return the categories of a problem, one for each property for which coverage is
/// counted.
Pse pse_of(const spec::AttentionProblem& problem);
Dropout dropout_of(const spec::AttentionProblem& problem);
Group group_of(const spec::AttentionProblem& problem);
HeadDim head_dim_of(const spec::AttentionProblem& problem);
LengthsKind lengths_of(const spec::AttentionProblem& problem);

/// Returns the numbers of a problem, such as lengths, that the coverage report lists.
std::vector<Size> sizes_of(const spec::AttentionProblem& problem);

/// These functions test a combination of factor values. The exclusions, which forbid combinations,
/// use them.
bool is_masked(const Categories& k);
bool is_packed(const Categories& k);
bool is_exact(const Categories& k);
bool is_compressed(spec::PseShape shape);

}  // namespace assay::conformance::attention::flash
