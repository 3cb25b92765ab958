#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "assay/conformance/bilinear.hpp"

namespace assay::conformance {

class Definition;

namespace bilinear {

struct Form;
class Operands;
template <class Op>
struct FixedRows;

/// The test suite of an operator with sums of products of two inputs. Its tensors are (tokens,
/// heads, channels) or (tokens, heads), without packed sequences. bilinear/traits.hpp lists the
/// members that an operator must add; the rest follows from its table of tensors.
template <class Op>
struct SuiteOf : BilinearSuite<Op> {
  using Problem = typename Op::Problem;
  using RelationParts = FixedRows<Op>;

  static Form form(const Problem& problem);
  static std::unique_ptr<Definition> definition(const Problem& problem, const Operands& operands);

  /// Returns the names of the common profiles, of the operator's own profiles, and of one profile
  /// for each input, in which this input is negated.
  static std::span<const InputProfile> profiles();
  static typename Op::Inputs draw(const Case<Op>& c);
  static std::span<const FieldRange> field_ranges();
  static void require_possible(const Case<Op>& c);
  /// Returns the number of products of all outputs.
  static double multiply_adds(const Problem& problem);

  static const Axes* axes();
  static std::vector<std::size_t> choice_of(const Case<Op>& c);
  static void collect(const SamplingPlan& plan, CaseCollector<Op>& cases);
};

}  // namespace bilinear
}  // namespace assay::conformance
