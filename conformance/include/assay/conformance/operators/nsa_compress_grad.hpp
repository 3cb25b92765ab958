#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "assay/conformance/suite.hpp"
#include "assay/spec/operators/nsa_compress_grad.hpp"

namespace assay::conformance {

/// A case whose correct outputs are known exactly, in any order of summation.
struct CompressExactCase {
  spec::NsaCompressGrad::Inputs inputs;
  std::vector<Dyadic> input_grad,
      weight_grad;  ///< exact values of the judged rows before the final cast
  /// Judged rows, ascending. For input_grad: numbers of Extents::row. For weight: row n *
  /// compress_block_size + w is (w, n).
  std::vector<std::int64_t> input_rows, weight_rows;
};

namespace compress {
class Basis;
struct RelationParts;
}  // namespace compress

/// Compression of blocks. The input profile determines all tensors.
template <>
struct Suite<spec::NsaCompressGrad> : SuiteDefaults<spec::NsaCompressGrad> {
  using Op = spec::NsaCompressGrad;
  using Basis = compress::Basis;
  using RelationParts = compress::RelationParts;
  using Exact = CompressExactCase;

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

  static Exact exact(const Case<Op>& c, const spec::Numerics& numerics,
                     ExactPart part = ExactPart::all);
  static std::vector<ExactTensor> exact_tensors(const Exact& exact_case,
                                                const Op::Problem& problem);
  static void compare_exact(const Exact& exact_case, const Op::Problem& problem,
                            const Op::Outputs& outputs, const spec::Numerics& numerics,
                            CaseReport& report);

  static std::vector<RelationText> relations();
  static CaseReport judge_relation(const Case<Op>& c, spec::Implementation<Op>& kernel);
};

}  // namespace assay::conformance
