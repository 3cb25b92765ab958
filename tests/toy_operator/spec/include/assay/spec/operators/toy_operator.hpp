#pragma once

#include "assay/spec/operators/defaults.hpp"

namespace assay::spec {

/// Weighted sums over windows. EDIT: what the operator computes, and from which document.
struct ToyOperator : OperatorDefaults<ToyOperator> {
  static constexpr std::string_view name = "toy_operator";

  /// One legal computation of the operator. EDIT: the sizes and attributes of the operator.
  struct Problem {
    using Operator = ToyOperator;
    DType dtype = DType::bf16;
    std::int64_t heads = 1, seq = 8, head_dim = 16, window = 2;

    friend bool operator==(const Problem&, const Problem&) = default;
  };
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
    using Operator = ToyOperator;
    std::int64_t window = 2;
  };

  /// Returns the list of the fields of a problem. The last member names the attribute of a call
  /// that has the value of the field.
  static constexpr auto fields() {
    return std::tuple{
        FieldRow{"dtype", &Problem::dtype, "element type of all tensors"},
        FieldRow{"heads", &Problem::heads, "heads N"}, FieldRow{"seq", &Problem::seq, "tokens T"},
        FieldRow{"head_dim", &Problem::head_dim, "head size D"},
        FieldRow{"window", &Problem::window, "tokens of a sum W", &Attributes::window}};
  }
  static Shape input_shape(const Problem& p) { return {p.seq, p.heads, p.head_dim}; }
  static Shape weight_shape(const Problem& p) { return {p.window, p.heads}; }
  static Shape output_shape(const Problem& p) {
    return {p.seq - p.window + 1, p.heads, p.head_dim};
  }
  /// Returns the list of tensors with their shapes. `table_of` returns the type of this list.
  static constexpr auto table() {
    return std::tuple{TensorRow{"input", &Parameters::input, &Inputs::input, input_shape},
                      TensorRow{"weight", &Parameters::weight, &Inputs::weight, weight_shape},
                      TensorRow{"output", &Parameters::output, &Outputs::output, output_shape}};
  }
  static std::span<const Requirement<ToyOperator>> requirements();
};

}  // namespace assay::spec
