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

/// What an operator gives to the suite: a specialisation of Suite, and nothing else. `Judgeable`
/// lists what is owed, a sentence each; `SuiteDefaults`, from which a specialisation derives, has
/// the rest, which an operator replaces where it has more to say.
namespace assay::conformance {

struct Axes;
struct FieldRange;
template <class Op>
struct Reduction;
template <class Op>
class CaseCollector;

/// The exact cases of an operator without any.
template <class Op>
struct NoExactCases {
  typename Op::Inputs inputs;
};

/// Numerics that declare how disputed inputs lie.
struct OtherReading {
  spec::Numerics numerics;
  std::string text;  ///< what they declare: "statistics are read as ... (statistics_order=...)"
};

/// What an operator need not say of itself.
template <class Op>
struct SuiteDefaults {
  using Problem = typename Op::Problem;
  using Outputs = typename Op::Outputs;

  // Cases.

  /// What an input profile leaves open of the tensors: a word for each; nothing.
  struct Patterns {
    friend bool operator==(const Patterns&, const Patterns&) = default;
  };
  /// An entry for each member of Patterns.
  static std::span<const PatternField<Op>> patterns() { return {}; }
  /// Refuses what no tensors can be made of, beyond the ranges of single fields.
  /// Errors: std::invalid_argument naming the field, its value and what is accepted.
  static void require_possible(const Case<Op>&) {}
  /// Sets the fields that others imply, e.g. the longest sequence from the lengths. `given` tells
  /// which fields the user wrote. Errors: std::invalid_argument where they contradict each other.
  static void settle_extents(Problem&, const std::function<bool(std::string_view)>& /*given*/) {}
  /// Sets in `implied` the fields that others of `given` imply: the replay line leaves them out.
  static void imply_extents(const Problem& /*given*/, Problem& /*implied*/) {}

  // Readings: inputs that lie in memory one way or the other, where the documents contradict each
  // other and numerics declare which.

  /// The problem whose inputs lie as the numerics declare; the problem itself where they declare
  /// nothing of it.
  static Problem as_declared(const Problem& problem, typename Op::EntryPoint,
                             const spec::Numerics&) {
    return problem;
  }
  /// The inputs of `problem`, moved to where they lie in `other`, which as_declared gave.
  static typename Op::Inputs moved(const Problem& /*problem*/, const Problem& /*other*/,
                                   const typename Op::Inputs& inputs) {
    return inputs;
  }
  /// A sentence: how the inputs of the problem lie.
  static std::string place_of_inputs(const Problem&) { return {}; }
  /// What a kernel could declare where these numerics declare nothing, so that the inputs of the
  /// case would lie otherwise.
  static std::vector<OtherReading> other_readings(const Case<Op>&, const spec::Numerics&) {
    return {};
  }
  /// A small legal call that a kernel reads as it reads the case; nothing: there is none, or the
  /// case is that call.
  static std::optional<Case<Op>> small_call(const Case<Op>&) { return std::nullopt; }

  // Plan.

  /// Rough cost of a case in seconds of one processor: for the time left, and for how large a drawn
  /// case may be.
  static double expected_cost(const Case<Op>& c) {
    return c.track == Track::arguments ? 1e-4 : 0.003 + 1e-9 * Suite<Op>::multiply_adds(c.problem);
  }
  /// Elements of the large tensors of a problem.
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
  /// Axes of pair coverage, and the values of a case on them; null: no pairs are counted.
  static const Axes* axes() { return nullptr; }
  static std::vector<std::size_t> choice_of(const Case<Op>&) { return {}; }
  /// Numbers of a case with tensors that are drawn from ranges, whose coverage is listed.
  static std::vector<Size> sizes(const Case<Op>&) { return {}; }

  // Fields that the formulas read, and whether the planned cases show a wrong value of each.

  /// The fields that the formulas read, without those that set a tensor's shape: a wrong value
  /// there changes the shape, too. Empty: field coverage is not counted.
  static std::span<const FormulaField<Op>> formula_fields() { return {}; }
  /// Returns whether the definition has other gradients for the inputs of `c` if the problem is
  /// `changed`. Costs two evaluations of the definition.
  static bool has_other_gradients(const Case<Op>&, const Problem& /*changed*/) { return false; }

  // Shrinking.

  /// Ways to make a case smaller, in the order in which they are tried, before fields are reset.
  static std::span<const Reduction<Op>> reductions() { return {}; }
  /// Fields that only the reductions change: their default is not what is smallest or plainest.
  static std::span<const std::string_view> fields_of_reductions() { return {}; }

  // Cases whose correct outputs are known exactly, tracks exact and exact_staged.

  /// One of them, with the member `inputs`.
  using Exact = NoExactCases<Op>;
  /// Builds an exact case for these numerics. Its inputs do not depend on the part. Errors:
  /// NoExactCase, with the reason.
  static Exact exact(const Case<Op>&, const spec::Numerics&, ExactPart = ExactPart::all) {
    throw NoExactCase("the suite has no exact cases of " + std::string(Op::name));
  }
  /// The exact gradients by their names, with their rows and channels.
  static std::vector<ExactTensor> exact_tensors(const Exact&, const Problem&) { return {}; }
  /// Compares every element of the judged rows with the exact gradients, as `judge_exact` does.
  /// Errors: std::invalid_argument if the outputs do not have the problem's shapes.
  static void compare_exact(const Exact&, const Problem&, const Outputs&, const spec::Numerics&,
                            CaseReport&) {}

  /// What the definition computes between these inputs and the outputs.
  static Intermediates intermediates(const Problem&, const typename Op::Inputs&) {
    return {.arrays = {}, .left_out = "there is nothing between inputs and sums"};
  }

  // Relations between runs, track relation.

  /// All of them.
  static std::vector<RelationText> relations() { return {}; }
  /// Judges a case of track relation. Errors: std::invalid_argument for an unknown one.
  static CaseReport judge_relation(const Case<Op>& c, spec::Implementation<Op>&) {
    throw std::invalid_argument("relation '" + c.relation + "': the suite has none of " +
                                std::string(Op::name));
  }
};

/// What every judgement of one case by kernels of one arithmetic rests on, as the member type
/// Basis of a suite has it. judge/plain_basis.hpp has PlainBasis, from which most of it follows.
template <class B, class Op>
concept BasisOfJudgement = requires(const Case<Op>& c, const typename Op::Inputs& inputs,
                                    const Arithmetic& arithmetic) {
  B(c, inputs, arithmetic);
};

/// Asserts all that an operator owes, with a sentence for each member that is left out.
template <class Op>
constexpr bool owes_nothing() {
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
      "Suite<Op>::multiply_adds(problem) says what one run costs");
  static_assert(
      requires(const SamplingPlan& plan, CaseCollector<Op>& cases) { S::collect(plan, cases); },
      "Suite<Op>::collect(plan, cases) adds the cases of a sweep");
  static_assert(
      requires { requires BasisOfJudgement<typename S::Basis, Op>; },
      "Suite<Op>::Basis(case, inputs, arithmetic) is what a judgement rests on");
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

/// Whether the suite can judge kernels of Op. What is missing does not compile, and is named by the
/// sentence of `owes_nothing`.
template <class Op>
concept Judgeable = owes_nothing<Op>();

}  // namespace assay::conformance
