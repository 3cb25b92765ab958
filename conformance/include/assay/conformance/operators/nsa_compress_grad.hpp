#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "assay/conformance/suite.hpp"
#include "assay/spec/operators/nsa_compress_grad.hpp"

namespace assay::conformance {

/// A case whose correct outputs are known exactly, whatever the order of summation.
struct CompressExactCase {
  spec::NsaCompressGrad::Inputs inputs;
  std::vector<Dyadic> input_grad,
      weight_grad;  ///< exact, before the final cast, of the judged rows
  /// Judged rows, ascending: of input_grad by their number in Extents::row; weight (w, n) is row n
  /// * compress_block_size + w.
  std::vector<std::int64_t> input_rows, weight_rows;
};

namespace compress {
class Basis;
struct RelationParts;
}  // namespace compress

/// A profile says all of the tensors.
template <>
struct Suite<spec::NsaCompressGrad> : SuiteDefaults<spec::NsaCompressGrad> {
  using Op = spec::NsaCompressGrad;
  using Basis = compress::Basis;
  using RelationParts = compress::RelationParts;
  using Exact = CompressExactCase;

  /// In fp16 the numbers of input are smaller by a power of two where weight_grad, a sum over all
  /// windows and channels, would overflow.
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
  /// Elements of input and output_grad.
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
