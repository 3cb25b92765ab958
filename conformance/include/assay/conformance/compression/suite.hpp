#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "assay/conformance/bilinear.hpp"

namespace assay::conformance {

class Definition;

namespace bilinear {
struct Form;
class Operands;
}  // namespace bilinear

namespace compression {

template <class Op>
struct RelationPartsOf;

/// The common part of the test suites for operators with packed sequences and sliding windows. The
/// input profile (the distribution of values) fills all tensors. compression/traits.hpp lists the
/// members that an operator must add.
template <class Op>
struct SuiteOf : BilinearSuite<Op> {
  using Problem = typename Op::Problem;
  using RelationParts = RelationPartsOf<Op>;

  static bilinear::Form form(const Problem& problem);
  static std::unique_ptr<Definition> definition(const Problem& problem,
                                                const bilinear::Operands& operands);

  /// Generates random inputs. Divides the tokens of an fp16 input by a power of two if a sum would
  /// overflow.
  static typename Op::Inputs draw(const Case<Op>& c);
  static std::span<const InputProfile> profiles();
  static std::span<const FieldRange> field_ranges();
  static void require_possible(const Case<Op>& c);

  static void collect(const SamplingPlan& plan, CaseCollector<Op>& cases);
  static const Axes* axes();
  static std::vector<std::size_t> choice_of(const Case<Op>& c);
  static std::vector<Size> sizes(const Case<Op>& c);
  static double multiply_adds(const Problem& problem);
  static double expected_cost(const Case<Op>& c);
  /// Returns the number of elements of two tensors together: one with a row per token, one with a
  /// row per window.
  static std::int64_t tensor_elements(const Problem& problem);

  static std::span<const Reduction<Op>> reductions();
  static std::span<const std::string_view> fields_of_reductions();
};

}  // namespace compression
}  // namespace assay::conformance
