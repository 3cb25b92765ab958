#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>

#include "assay/spec/call.hpp"
#include "assay/spec/requirement.hpp"
#include "assay/spec/striding.hpp"
#include "assay/spec/table.hpp"
#include "assay/spec/text_enum.hpp"

namespace assay::spec {

/// The only entry point. EDIT: one for each function that the documents name, with a spelling that
/// no other operator has.
enum class ToyOperatorEntryPoint : std::uint8_t { t1 };

template <>
inline constexpr auto spellings_of<ToyOperatorEntryPoint> =
    Spellings<ToyOperatorEntryPoint, 1>{{{{ToyOperatorEntryPoint::t1, "t1"}}}};

/// The first function returns whether, by the documentation of the entry point, the product (device
/// family) supports it. The second returns the id of the requirement that says so.
bool supports(ToyOperatorEntryPoint entry_point, Product product);
std::string_view product_requirement(ToyOperatorEntryPoint entry_point, Product product);

/// One legal computation of the operator. EDIT: the sizes and attributes of the operator.
struct ToyOperatorProblem {
  DType dtype = DType::bf16;
  std::int64_t heads = 1, seq = 8, head_dim = 16, window = 2;

  friend bool operator==(const ToyOperatorProblem&, const ToyOperatorProblem&) = default;
};

/// Calls visit(name, member, meaning) for every field of a problem.
template <class Problem, class Visitor>
requires std::same_as<std::remove_const_t<Problem>, ToyOperatorProblem>
void visit_fields(Problem& p, Visitor&& visit) {
  visit("dtype", p.dtype, "element type of all tensors");
  visit("heads", p.heads, "heads N");
  visit("seq", p.seq, "tokens T");
  visit("head_dim", p.head_dim, "head size D");
  visit("window", p.window, "tokens of a sum W");
}

/// Return the extents of each tensor. A row of weight has one element.
Extents input_extents(const ToyOperatorProblem& p);
Extents weight_extents(const ToyOperatorProblem& p);
Extents output_extents(const ToyOperatorProblem& p);

/// Weighted sums over windows. EDIT: what the operator computes, and from which document.
struct ToyOperator {
  static constexpr std::string_view name = "toy_operator";
  /// True if kernels compute a softmax. Then a kernel's declaration of its arithmetic has fields
  /// for P and dS.
  static constexpr bool has_softmax = false;

  using EntryPoint = ToyOperatorEntryPoint;
  using Problem = ToyOperatorProblem;
  struct Inputs {
    using Operator = ToyOperator;
    Tensor input, weight;
  };
  struct Outputs {
    using Operator = ToyOperator;
    Tensor output;
  };
  struct Parameters {
    using Operator = ToyOperator;
    Parameter input, weight, output;
  };
  struct Attributes {
    std::int64_t window = 2;
  };

  /// Returns the list of tensors with their shapes. `table_of` returns the type of this list.
  static constexpr auto table() {
    return std::tuple{
        TensorRow{"input", &Parameters::input, &Inputs::input,
                  +[](const Problem& p) {
                    return Shape{p.seq, p.heads, p.head_dim};
                  }},
        TensorRow{"weight", &Parameters::weight, &Inputs::weight,
                  +[](const Problem& p) {
                    return Shape{p.window, p.heads};
                  }},
        TensorRow{"output", &Parameters::output, &Outputs::output, +[](const Problem& p) {
                    return Shape{p.seq - p.window + 1, p.heads, p.head_dim};
                  }}};
  }
  static std::span<const Requirement<ToyOperator>> requirements();
};

template <>
inline constexpr auto table_of<ToyOperator> = ToyOperator::table();

template <class Attributes, class Visitor>
requires std::same_as<std::remove_const_t<Attributes>, ToyOperator::Attributes>
void visit_fields(Attributes& attributes, Visitor&& visit) { visit("window", attributes.window); }

/// Makes the call for `problem`, with the given strides of inputs and outputs.
Call<ToyOperator> call_of(const ToyOperatorProblem& problem, ToyOperatorEntryPoint entry_point,
                          Product product, const Strides& inputs, const Strides& outputs);

}  // namespace assay::spec
