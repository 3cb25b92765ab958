#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "assay/conformance/bilinear.hpp"
#include "assay/spec/operators/nsa_compress_grad.hpp"

namespace assay::conformance {

namespace compress {
struct RelationParts;
}  // namespace compress

/// Compression of blocks. The input profile determines all tensors.
template <>
struct Suite<spec::NsaCompressGrad> : BilinearSuite<spec::NsaCompressGrad> {
  using Op = spec::NsaCompressGrad;
  using RelationParts = compress::RelationParts;

  /// Values of an fp16 input are divided by a power of two if weight_grad would overflow.
  /// weight_grad is a sum over all windows and channels.
  static Op::Inputs draw(const Case<Op>& c);
  static std::span<const InputProfile> profiles();
  static std::span<const FieldRange> field_ranges();
  static void require_possible(const Case<Op>& c);
  static void settle_extents(Op::Problem& problem,
                             const std::function<bool(std::string_view)>& given);
  static void imply_extents(const Op::Problem& given, Op::Problem& implied);

  static void collect(const SamplingPlan& plan, CaseCollector<Op>& cases);
  static const Axes* axes();
  static std::vector<std::size_t> choice_of(const Case<Op>& c);
  static std::vector<Size> sizes(const Case<Op>& c);
  static double multiply_adds(const Op::Problem& problem);
  static double expected_cost(const Case<Op>& c);
  /// Number of elements of input and output_grad.
  static std::int64_t tensor_elements(const Op::Problem& problem);

  static std::span<const Reduction<Op>> reductions();
  static std::span<const std::string_view> fields_of_reductions();

  static std::vector<RelationText> relations();
  static CaseReport judge_relation(const Case<Op>& c, spec::Implementation<Op>& kernel);
};

}  // namespace assay::conformance
