#pragma once

#include <string_view>
#include <vector>

#include "assay/conformance/inputs/random.hpp"
#include "compression/problem.hpp"

/// Describes how an operator on packed sequences with windows differs from the others.
namespace assay::conformance::compression {

/// An operator must provide the following: a specialisation of Traits in its folder. It derives
/// from PlainTraits and adds:
///
///   using Rows = ...;  /// the values of the inputs, comparable: a vector for each input
///   static Rows rows_of(const Op::Problem&, const Op::Inputs&);
///   static constexpr InputRows<Rows> inputs[] = ...;
///   static constexpr OutputRows outputs[] = ...;
///   /// Requirements on compress_block_size, on compress_stride, and that no tensor is empty.
///   static constexpr std::string_view size_requirement, stride_requirement, empty_requirement;
///   static std::span<const Profile> profiles();
///   static std::span<const Relation<Op>> own_relations();
template <class Op>
struct Traits;

/// The description of an output; and that of an input, with the random numbers that fill it and its
/// values in `Rows`.
struct OutputRows {
  std::string_view name;
  RowKind kind;
};
template <class Rows>
struct InputRows {
  std::string_view name;
  RowKind kind;
  Stream stream;
  std::vector<double> Rows::*values;
};

/// The sentences of relations that name the outputs.
struct Sentences {
  std::string_view sequences_alone = "The outputs of a sequence depend only on this sequence.",
                   permute_sequences =
                       "If the sequences are reordered, the outputs are reordered in the same way.",
                   permute_heads =
                       "If the heads are reordered, the outputs are reordered in the same way.",
                   heads_alone = "The outputs of a head depend only on this head.",
                   channels_alone = "The outputs of a channel depend only on this channel.",
                   shift_by_stride =
                       "If one stride of tokens is added in front of a sequence, its outputs move "
                       "by one window.";
};

struct PlainTraits {
  /// True if the stride may be equal to the window.
  static constexpr bool may_lack_overlap = false;
  /// A profile whose data may be all zero if there are few rows, and a sentence about this.
  static constexpr std::string_view sparse_profile = {}, sparse_sentence = {};
  static constexpr Sentences sentences = {};
};

/// Returns the kinds of rows of these inputs or outputs.
std::vector<RowKind> kinds_of(const auto& tensors) {
  std::vector<RowKind> kinds;
  for (const auto& tensor : tensors) kinds.push_back(tensor.kind);
  return kinds;
}

/// Returns the name of the first tensor that has a row for each window.
template <class Op>
std::string_view window_tensor() {
  for (const auto& tensor : Traits<Op>::inputs)
    if (tensor.kind == RowKind::window) return tensor.name;
  for (const auto& tensor : Traits<Op>::outputs)
    if (tensor.kind == RowKind::window) return tensor.name;
  return {};
}

}  // namespace assay::conformance::compression
