#pragma once

#include <cstdint>
#include <stdexcept>
#include <string_view>

#include "assay/conformance/attention/flash.hpp"

/// Properties in which the attention operators differ from each other.
namespace assay::conformance::attention::flash {

using Problem = spec::AttentionProblem;

/// An operator must provide the following, in a specialisation of Traits in its folder:
///
///   /// Entry points of padded and of packed sequences; `typed` has pseType and start indices,
///   /// `ordered` has softmaxInLayout if an entry point has it, `roped` has rope tensors.
///   static constexpr EntryPoint dense, dense_typed, packed, packed_typed, packed_ordered, roped;
///   /// Entry points of packed sequences: those without ropes; of these, those without pseType.
///   static constexpr EntryPoint packed_choices[], packed_untyped[];
///   static constexpr LimitIds ids;
///   /// True if softmax_max and softmax_sum are inputs.
///   static constexpr bool reads_statistics;
///   /// All input profiles, and the names of those that are drawn.
///   static std::span<const InputProfile> profiles();
///   static constexpr std::string_view drawn_profiles[];
///   /// Says that empty padded sequences test nothing.
///   static constexpr std::string_view empty_padded_sentence;
///   static constexpr RearrangingSentences sentences;
template <class Op>
struct Traits;

/// True for operators that compute the statistics. Their documentation limits packed sequences more
/// than the documentation of gradients: a user's mask must not mask a row completely; sparse mode 3
/// allows no more queries than keys; slopes require as many queries as keys; a rope must not be
/// wider than value.
template <class Op>
inline constexpr bool is_forward = !Traits<Op>::reads_statistics;

/// Returns the entry point with a sink: the packed one if `packed` is true, otherwise the padded
/// one.
template <class EntryPoint>
EntryPoint entry_point_with_sink(bool packed) {
  for (const auto& [entry_point, name] : spec::spellings_of<EntryPoint>.entries)
    if (has_sink(entry_point) && is_unpadding(entry_point) == packed) return entry_point;
  throw std::logic_error("no entry point has a sink");
}

/// The ids of the requirements that limit the fields of a case.
struct LimitIds {
  std::string_view batch, heads, seq, head_dim, head_dim_v, head_dim_rope, sparse_mode, pse_type;
};

/// Explanations of the relations (comparisons between runs) that permute rows and keys, or split
/// the call.
struct RearrangingSentences {
  std::string_view permute_keys, permute_queries, split_batch, split_heads, sequences_alone,
      repeat_heads, cut_queries;
};

}  // namespace assay::conformance::attention::flash
