#pragma once

#include <span>

#include "assay/conformance/operators/nsa_compress.hpp"
#include "assay/reference/nsa_compress.hpp"
#include "compression/profiles.hpp"
#include "compression/relations/parts.hpp"
#include "compression/traits.hpp"

namespace assay::conformance {

template <>
struct compression::Traits<spec::NsaCompress> : compression::PlainTraits {
  using Op = spec::NsaCompress;
  using Oracle = reference::NsaCompress<reference::Wide, float>;
  using Rows = reference::NsaCompressOperands<double>;

  static bilinear::Form form(const Op::Problem& problem);
  static std::vector<reference::Wide> row(const Oracle& oracle, std::size_t sum,
                                          const spec::RowPosition& row);
  static Rows rows_of(const Op::Problem& problem, const Op::Inputs& inputs) {
    return reference::operands_of<double>(problem, inputs);
  }
  static constexpr InputRows<Rows> inputs[] = {
      {"input", RowKind::token, Stream::input, &Rows::input},
      {"weight", RowKind::weight, Stream::weight, &Rows::weight}};
  static constexpr OutputRows outputs[] = {{"output", RowKind::window}};

  static constexpr std::string_view size_requirement = "NSCF-C07", stride_requirement = "NSCF-C07b",
                                    empty_requirement = "NSCF-C03a";
  static constexpr bool may_lack_overlap = true;

  static std::span<const Profile> profiles();
  static std::span<const Relation<Op>> own_relations();
};

}  // namespace assay::conformance
