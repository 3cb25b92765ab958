#pragma once

#include <span>

#include "assay/conformance/operators/nsa_compress_grad.hpp"
#include "assay/reference/nsa_compress_grad.hpp"
#include "compression/profiles.hpp"
#include "compression/relations/parts.hpp"
#include "compression/traits.hpp"

namespace assay::conformance {

template <>
struct compression::Traits<spec::NsaCompressGrad> : compression::PlainTraits {
  using Op = spec::NsaCompressGrad;
  using Oracle = reference::NsaCompressGrad<reference::Wide, float>;
  using Rows = reference::CompressOperands<double>;

  static bilinear::Form form(const Op::Problem& problem);
  static std::vector<reference::Wide> row(const Oracle& oracle, std::size_t sum,
                                          const spec::RowPosition& row);
  static Rows rows_of(const Op::Problem& problem, const Op::Inputs& inputs) {
    return reference::operands_of<double>(problem, inputs);
  }
  static constexpr InputRows<Rows> inputs[] = {
      {"output_grad", RowKind::window, Stream::dy, &Rows::output_grad},
      {"input", RowKind::token, Stream::input, &Rows::input},
      {"weight", RowKind::weight, Stream::weight, &Rows::weight}};
  static constexpr OutputRows outputs[] = {{"input_grad", RowKind::token},
                                           {"weight_grad", RowKind::weight}};

  static constexpr std::string_view size_requirement = "NSAC-C10", stride_requirement = "NSAC-C11",
                                    empty_requirement = "NSAC-C21";

  static std::span<const Profile> profiles();
  static constexpr std::string_view sparse_profile = "sparse_dy",
                                    sparse_sentence = "A sparse dy with few rows can be all zero.";

  static std::span<const Relation<Op>> own_relations();
  static constexpr Sentences sentences = {
      .sequences_alone =
          "Each sequence determines its own input_grad; weight_grad is the sum over the sequences.",
      .permute_sequences =
          "If the sequences are reordered, input_grad is reordered in the same way, and "
          "weight_grad does not change.",
      .permute_heads = "If the heads are reordered, both gradients are reordered in the same way.",
      .heads_alone = "The gradients of a head depend only on this head.",
      .channels_alone =
          "Each channel determines its own input_grad; weight_grad is the sum over the channels.",
      .shift_by_stride =
          "If compress_stride tokens are added in front of a sequence, and output_grad of the new "
          "window is zero, input_grad moves by compress_stride tokens."};
};

}  // namespace assay::conformance
