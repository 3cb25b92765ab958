#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "assay/conformance/attention/exact_case.hpp"
#include "assay/conformance/suite.hpp"
#include "assay/spec/operators/sparse_flash_attention_grad.hpp"

namespace assay::conformance {

namespace sparse_flash {
class Basis;
}

/// A case whose inputs make every correct kernel compute the same outputs, bit by bit, in any order
/// of summation.
struct SparseFlashExactCase {
  spec::SparseFlashAttentionGrad::Inputs inputs;
  /// The same case in the form of ordinary attention, with packed tensors and the listed keys. If
  /// the key tensor also serves as value, dk is the sum of both gradients.
  AttentionExactCase dense;
};

/// The suite for attention to listed tokens or blocks of tokens. Its tolerances are those of
/// attention, with lists in place of a mask.
template <>
struct Suite<spec::SparseFlashAttentionGrad> : SuiteDefaults<spec::SparseFlashAttentionGrad> {
  using Op = spec::SparseFlashAttentionGrad;
  using Basis = sparse_flash::Basis;
  struct RelationParts;
  using Exact = SparseFlashExactCase;

  /// Patterns for tensors that the input profile (the distribution of values) does not fill: the
  /// lists.
  struct Patterns {
    std::string lists = "shuffled";
    friend bool operator==(const Patterns&, const Patterns&) = default;
  };
  static std::span<const PatternField<Op>> patterns();
  static std::span<const InputProfile> profiles();
  static std::span<const FieldRange> field_ranges();
  static void require_possible(const Case<Op>& c);

  /// Generates the inputs. Also runs the forward pass: its results, rounded as the operator stores
  /// them, are the inputs softmax_max, softmax_sum and out. value gets the elements of key.
  static Op::Inputs draw(const Case<Op>& c);

  static Exact exact(const Case<Op>& c, const spec::Numerics& numerics,
                     ExactPart part = ExactPart::all);
  static std::vector<ExactTensor> exact_tensors(const Exact& exact_case, const Problem& problem);

  static double multiply_adds(const Problem& problem);
  static std::int64_t tensor_elements(const Problem& problem);
  static double expected_cost(const Case<Op>& c);

  static void collect(const SamplingPlan& plan, CaseCollector<Op>& cases);
  static const Axes* axes();
  static std::vector<std::size_t> choice_of(const Case<Op>& c);

  static std::span<const Reduction<Op>> reductions();
  static Intermediates intermediates(const Problem& problem, const Op::Inputs& inputs);
};

}  // namespace assay::conformance
