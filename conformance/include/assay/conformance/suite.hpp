#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "assay/conformance/case/case.hpp"
#include "assay/conformance/inputs/inputs.hpp"
#include "assay/conformance/judge/arithmetic.hpp"
#include "assay/conformance/judge/exact.hpp"
#include "assay/conformance/judge/intermediates.hpp"
#include "assay/conformance/judge/relations.hpp"
#include "assay/conformance/plan/formula_fields.hpp"
#include "assay/conformance/plan/sampling.hpp"
#include "assay/conformance/plan/sizes.hpp"
#include "assay/conformance/result/case_report.hpp"
#include "assay/spec/implementation.hpp"
#include "assay/spec/numerics.hpp"

/// The interface between an operator and the test suite. An operator specialises Suite; nothing
/// else connects the two. `Judgeable` lists the required members, each with a sentence. A
/// specialisation derives from `SuiteDefaults`, which has defaults for all other members, and
/// overrides some of them.
namespace assay::conformance {

struct Axes;
struct FieldRange;
template <class Op>
struct Reduction;
template <class Op>
class CaseCollector;

/// The exact-case type of operators that have no exact cases.
template <class Op>
struct NoExactCases {
  typename Op::Inputs inputs;
};

/// Numerics (a kernel's declared arithmetic) that declare another memory order of inputs. They
/// exist only for inputs about whose order the documents contradict each other.
struct OtherReading {
  spec::Numerics numerics;
  Fact order;  ///< that order, and how to declare it
};

/// True if the Suite of an operator has the type RelationParts. This type contains the operator's
/// relations, the rows of its inputs, and the outputs that are compared (see
/// judge/relations/trial.hpp).
template <class Op>
concept HasRelationParts = requires {
  typename Suite<Op>::RelationParts;
};

/// Judges a case of the track (test method) `relation`, which compares several runs. Errors:
/// std::invalid_argument for an unknown relation.
template <class Op>
CaseReport judge_by_relation(const Case<Op>& c, spec::Implementation<Op>& kernel);
/// Compares the outputs with exact values, as `judge_exact` does. If the exact value is 0, the
/// output must be exactly 0. Compares nothing if the operator has no RelationParts. Errors:
/// std::invalid_argument if the outputs do not have the shapes of the problem.
template <class Op>
void compare_with_exact(const std::vector<ExactTensor>& exact, const typename Op::Problem& problem,
                        const typename Op::Outputs& outputs, const spec::Numerics& numerics,
                        CaseReport& report);

/// Default versions of the optional members of Suite.
template <class Op>
struct SuiteDefaults {
  using Problem = typename Op::Problem;
  using Outputs = typename Op::Outputs;

  // Cases.

  /// Names of patterns for tensors that the input profile (the distribution of values) does not
  /// fill, such as a mask. An operator without such tensors uses this default.
  struct Patterns {
    friend bool operator==(const Patterns&, const Patterns&) = default;
  };
  /// Returns the descriptions of the fields: one entry for each member of Patterns.
  static std::span<const PatternField<Op>> patterns() { return {}; }
  /// Rejects a case for which no tensors can be created, although the value of each field is in its
  /// range. Errors: std::invalid_argument with the field, its value and the accepted values.
  static void require_possible(const Case<Op>&) {}
  /// Sets the fields whose values follow from other fields. By default these are `batch` and the
  /// longest sequence (`seq`, `seq_q` or `seq_kv`), which follow from `lengths`, `lengths_q` or
  /// `lengths_kv`. `given` returns whether the user wrote a field. Errors: std::invalid_argument if
  /// fields contradict each other. Defined in case/limits.hpp.
  static void settle_extents(Problem& problem, const std::function<bool(std::string_view)>& given);
  /// Sets the fields of `implied` that follow from other fields of `given`. By default these are
  /// the fields that `settle_extents` sets. The replay line omits them.
  static void imply_extents(const Problem& given, Problem& implied);

  // The memory order of inputs. The documents contradict each other about some inputs, so a
  // kernel's numerics declare the order that it reads.

  /// Returns a copy of the problem in which the inputs have the memory order that the numerics (the
  /// arithmetic that a kernel declares) contain. Without an order, returns the problem unchanged.
  static Problem as_declared(const Problem& problem, typename Op::EntryPoint,
                             const spec::Numerics&) {
    return problem;
  }
  /// Copies the inputs of `problem` into the memory order of `other`, a problem that as_declared
  /// returned.
  static typename Op::Inputs moved(const Problem& /*problem*/, const Problem& /*other*/,
                                   const typename Op::Inputs& inputs) {
    return inputs;
  }
  /// Returns a fact (a statement as data) that names the memory order of the inputs.
  static Fact place_of_inputs(const Problem&) { return {}; }
  /// Returns the memory orders that the kernel could declare. Returns nothing if its numerics
  /// (declared arithmetic) already declare an order, or if the inputs of the case are the same in
  /// every order.
  static std::vector<OtherReading> other_readings(const Case<Op>&, const spec::Numerics&) {
    return {};
  }
  /// Returns a small legal call. The kernel reads the inputs of this call in the same memory order
  /// as the inputs of the case. Returns nothing if no such call exists, or if the case is already
  /// this small call.
  static std::optional<Case<Op>> small_call(const Case<Op>&) { return std::nullopt; }

  // Plan.

  /// Returns the approximate cost of a case (seconds of one processor). The program uses it to
  /// estimate the remaining time and to limit the size of random cases.
  static double expected_cost(const Case<Op>& c) {
    return c.track == Track::arguments ? 1e-4 : 0.003 + 1e-9 * Suite<Op>::multiply_adds(c.problem);
  }
  /// Returns the number of elements of the problem's large tensors (default: all tensors).
  static std::int64_t tensor_elements(const Problem& problem) {
    std::int64_t elements = 0;
    const auto call = call_of(problem, typename Op::EntryPoint{}, spec::Product::a2,
                              spec::Striding::contiguous, spec::Striding::contiguous);
    visit_fields(call.parameters, [&]<class Member>(const char*, const Member& member) {
      if constexpr (std::same_as<Member, spec::Parameter>)
        if (member.present) elements += spec::element_count(member.shape);
    });
    return elements;
  }
  /// Returns the axes (properties of a case) whose pairs of values are counted. Null: pairs are not
  /// counted. choice_of() returns the values of a case on these axes.
  static const Axes* axes() { return nullptr; }
  static std::vector<std::size_t> choice_of(const Case<Op>&) { return {}; }
  /// Returns the numbers of a case, such as lengths, for the coverage report. Called only for cases
  /// that compute outputs.
  static std::vector<Size> sizes(const Case<Op>&) { return {}; }

  // Coverage of the fields that the formulas use. For each field: would a planned case detect a
  // wrong value?

  /// Returns the fields that the formulas use. Leaves out fields that set a tensor's shape, because
  /// a wrong value would change the shape. Empty: field coverage is not counted.
  static std::span<const FormulaField<Op>> formula_fields() { return {}; }
  /// Returns whether the high-precision definition computes other outputs from the same inputs if
  /// `changed` replaces the problem. Costs two evaluations of the definition.
  static bool has_other_outputs(const Problem&, const Problem& /*changed*/,
                                const typename Op::Inputs&) {
    return false;
  }

  // Shrinking.

  /// Returns ways to make a case smaller, in the order of the attempts. They are tried before
  /// fields are reset to their defaults.
  static std::span<const Reduction<Op>> reductions() { return {}; }
  /// Returns the fields that are not reset to their default, because the default is not the
  /// smallest or simplest value. Only the reductions change them.
  static std::span<const std::string_view> fields_of_reductions() { return {}; }

  // Exact cases (tracks exact and exact_staged): the correct outputs are known exactly, and the
  // judge compares the kernel's outputs with them.

  /// The type of an exact case. It must have a member `inputs`.
  using Exact = NoExactCases<Op>;
  /// Builds an exact case for these numerics (the kernel's declared arithmetic). The inputs do not
  /// depend on the argument of type ExactPart. Errors: NoExactCase with the reason.
  static Exact exact(const Case<Op>&, const spec::Numerics&, ExactPart = ExactPart::all) {
    throw NoExactCase("the suite has no exact cases of " + std::string(Op::name));
  }
  /// Returns the exact outputs, each with its name, rows and channels.
  static std::vector<ExactTensor> exact_tensors(const Exact&, const Problem&) { return {}; }
  /// Compares all elements of the judged rows with the exact outputs, as `judge_exact` does.
  /// Errors: std::invalid_argument if the outputs do not have the shapes of the problem.
  template <class ExactCase>
  static void compare_exact(const ExactCase& exact_case, const Problem& problem,
                            const Outputs& outputs, const spec::Numerics& numerics,
                            CaseReport& report) {
    compare_with_exact<Op>(Suite<Op>::exact_tensors(exact_case, problem), problem, outputs,
                           numerics, report);
  }

  /// Returns the intermediate values that the high-precision definition computes from these inputs.
  static Intermediates intermediates(const Problem&, const typename Op::Inputs&) {
    return {.arrays = {}, .left_out = "the operator has no intermediate values"};
  }

  // Relations: comparisons between several runs (track relation).

  /// Returns all relations (comparisons of several runs) of the operator, from its RelationParts.
  static std::vector<RelationText> relations() { return relation_texts<Op>(); }
  /// Judges a case of the track (test method) `relation`, which compares several runs. Errors:
  /// std::invalid_argument for an unknown relation.
  static CaseReport judge_relation(const Case<Op>& c, spec::Implementation<Op>& kernel) {
    return judge_by_relation(c, kernel);
  }
};

/// The data that the suite needs to judge a case. All kernels with the same arithmetic share them.
/// A Suite defines this type as Basis; PlainBasis in judge/plain_basis.hpp has most of its members.
template <class B, class Op>
concept BasisOfJudgement = requires(const Case<Op>& c, const typename Op::Inputs& inputs,
                                    const Arithmetic& arithmetic) {
  B(c, inputs, arithmetic);
};

/// Asserts that Suite<Op> has all required members. The compiler prints a sentence for each missing
/// member.
template <class Op>
constexpr bool provides_everything() {
  using S = Suite<Op>;
  using Problem = typename Op::Problem;
  static_assert(
      requires { sizeof(S); }, "Suite<Op> is specialised in a header of the operator");
  static_assert(
      requires(const Case<Op>& c) {
        { S::draw(c) } -> std::same_as<typename Op::Inputs>;
      },
      "Suite<Op>::draw(case) gives the input tensors of a case of track bound");
  static_assert(
      requires {
        { S::profiles() } -> std::same_as<std::span<const InputProfile>>;
      },
      "Suite<Op>::profiles() lists the input profiles, a name and a sentence each");
  static_assert(
      requires {
        { S::field_ranges() } -> std::same_as<std::span<const FieldRange>>;
      },
      "Suite<Op>::field_ranges() gives the range of every integer field of a case");
  static_assert(
      requires(const Problem& p) {
        { S::multiply_adds(p) } -> std::same_as<double>;
      },
      "Suite<Op>::multiply_adds(problem) returns the cost of one run");
  static_assert(
      requires(const SamplingPlan& plan, CaseCollector<Op>& cases) { S::collect(plan, cases); },
      "Suite<Op>::collect(plan, cases) adds the cases of a sweep");
  static_assert(
      requires { requires BasisOfJudgement<typename S::Basis, Op>; },
      "Suite<Op>::Basis(case, inputs, arithmetic) is constructible; a judgement reads it");
  static_assert(
      requires(typename S::Basis & g, const typename Op::Outputs& outputs) {
        g.check_structure(outputs);
      },
      "Suite<Op>::Basis::check_structure(outputs) checks every element, judged or not");
  static_assert(
      requires(typename S::Basis & g) { g.expectations(); },
      "Suite<Op>::Basis::expectations() gives reference, radius and tolerances of all outputs");
  return true;
}

/// True if the suite can judge kernels of Op. If a member is missing, compilation fails and prints
/// the sentence from `provides_everything`.
template <class Op>
concept Judgeable = provides_everything<Op>();

}  // namespace assay::conformance
