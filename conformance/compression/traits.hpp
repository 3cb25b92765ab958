#pragma once

#include <string_view>
#include <vector>

#include "assay/conformance/inputs/random.hpp"
#include "compression/problem.hpp"

/// Traits: the properties in which the operators on windows of packed sequences differ.
namespace assay::conformance::compression {

/// An operator must provide the following: a specialisation of Traits in its folder. It derives
/// from PlainTraits and adds:
///
///   /// The sums of products, and the definition: see bilinear/traits.hpp.
///   static bilinear::Form form(const Op::Problem&);
///   using Oracle = ...;
///   static std::vector<reference::Wide> row(const Oracle&, std::size_t sum, const RowPosition&);
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

/// Describes an output. InputRows describes an input: the random stream that fills it, and the
/// member of `Rows` with its values.
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

/// Sentences for reports that state what a relation (statement about several runs) expects of the
/// outputs.
struct Sentences {
  std::string_view sequences_alone = "The outputs of a sequence depend only on this sequence.",
                   permute_sequences =
                       "If the sequences are reordered, the outputs are reordered in the same way.",
                   permute_heads =
                       "If the heads are reordered, the outputs are reordered in the same way.",
                   heads_alone = "The outputs of a head depend only on this head.",
                   channels_alone = "The outputs of a channel depend only on this channel.",
                   shift_by_stride =
                       "If compress_stride tokens are added in front of a sequence, its outputs "
                       "move by one window.";
};

struct PlainTraits {
  /// True if the operator allows a stride that is equal to the window size (no overlap).
  static constexpr bool may_lack_overlap = false;
  /// sparse_profile: a profile (distribution of the input values) whose inputs may be all zero if
  /// there are few rows. sparse_sentence: the sentence that explains this to the user.
  static constexpr std::string_view sparse_profile = {}, sparse_sentence = {};
  static constexpr Sentences sentences = {};
};

/// Returns the row kind (token, window or weight) of each of these tensors.
std::vector<RowKind> kinds_of(const auto& tensors) {
  std::vector<RowKind> kinds;
  for (const auto& tensor : tensors) kinds.push_back(tensor.kind);
  return kinds;
}

/// Returns the name of the first tensor that has one row for each window.
template <class Op>
std::string_view window_tensor() {
  for (const auto& tensor : Traits<Op>::inputs)
    if (tensor.kind == RowKind::window) return tensor.name;
  for (const auto& tensor : Traits<Op>::outputs)
    if (tensor.kind == RowKind::window) return tensor.name;
  return {};
}

}  // namespace assay::conformance::compression
