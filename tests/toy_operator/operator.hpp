#pragma once

#include <algorithm>
#include <concepts>
#include <span>
#include <string_view>
#include <vector>

#include "assay/spec/requirement.hpp"
#include "assay/spec/striding.hpp"
#include "assay/spec/tensor.hpp"

/// The smallest possible operator, for tests: the gradient of
/// y_i = scale * (x_(i - window + 1) + ... + x_i).
namespace assay::toy {

using spec::Parameter;

enum class Entry : std::uint8_t { t1 };

struct WindowSumGrad {
  static constexpr std::string_view name = "window_sum_grad";
  static constexpr bool has_softmax = false;
  using EntryPoint = Entry;

  struct Problem {
    spec::DType dtype = spec::DType::bf16;
    std::int64_t batch = 1, heads = 1, seq = 8, head_dim = 16, window = 2;
    double scale = 0.5;
    friend bool operator==(const Problem&, const Problem&) = default;
  };
  struct Inputs {
    spec::Tensor output_grad;
  };
  struct Outputs {
    spec::Tensor input_grad;
  };
  struct Parameters {
    Parameter output_grad, input_grad;
  };
  struct Attributes {
    std::int64_t window = 2;
    double scale = 0.5;
  };

  static std::span<const spec::Requirement<WindowSumGrad>> requirements();
};

using Op = WindowSumGrad;
template <class Type, class Member>
concept Either = std::same_as<std::remove_const_t<Type>, Member>;

template <Either<Op::Problem> Problem, class Visitor>
void visit_fields(Problem& p, Visitor&& visit) {
  visit("dtype", p.dtype, "element type of both tensors");
  visit("batch", p.batch, "batch");
  visit("heads", p.heads, "heads");
  visit("seq", p.seq, "tokens");
  visit("head_dim", p.head_dim, "head size");
  visit("window", p.window, "tokens of a sum");
  visit("scale", p.scale, "factor of a sum");
}
template <Either<Op::Inputs> Inputs, class Visitor>
void visit_fields(Inputs& inputs, Visitor&& visit) {
  visit("output_grad", inputs.output_grad);
}
template <Either<Op::Outputs> Outputs, class Visitor>
void visit_fields(Outputs& outputs, Visitor&& visit) {
  visit("input_grad", outputs.input_grad);
}
template <Either<Op::Parameters> Parameters, class Visitor>
void visit_fields(Parameters& parameters, Visitor&& visit) {
  visit("output_grad", parameters.output_grad);
  visit("input_grad", parameters.input_grad);
}
template <Either<Op::Attributes> Attributes, class Visitor>
void visit_fields(Attributes& attributes, Visitor&& visit) {
  visit("window", attributes.window);
  visit("scale", attributes.scale);
}

inline spec::Extents extents(const Op::Problem& p) { return {p.batch, p.heads, p.seq, p.head_dim}; }

inline bool supports(Entry, spec::Product product) { return product == spec::Product::a2; }
inline std::string_view product_requirement(Entry, spec::Product) { return "TOY-C5"; }

inline spec::Call<Op> call_of(const Op::Problem& p, Entry entry_point, spec::Product product,
                              const spec::Strides& inputs, const spec::Strides& outputs) {
  const Parameter tensor = {
      .present = true, .dtype = p.dtype, .shape = shape_of(spec::Layout::bnsd, extents(p))};
  spec::Call<Op> call{entry_point, product, {tensor, tensor}, {p.window, p.scale}};
  apply_striding(call.parameters.output_grad, inputs.of("output_grad"));
  apply_striding(call.parameters.input_grad, outputs.of("input_grad"));
  return call;
}

/// The definition, one element at a time, in any number type.
template <class Real>
Real input_grad(const spec::HeadView& output_grad, const Op::Problem& p,
                const spec::RowPosition& row, std::int64_t d) {
  Real sum = 0;
  for (std::int64_t i = row.s; i < std::min(row.s + p.window, p.seq); ++i)
    sum += output_grad(row.b, row.n, i, d);
  return Real(p.scale) * sum;
}

/// The requirements that the documentation of the operator would state.
inline std::span<const spec::Requirement<Op>> Op::requirements() {
  using Call = spec::Call<Op>;
  using spec::Side;
  static constexpr auto always = [](const Call&) { return true; };
  const auto row = [](std::string_view id, std::string_view statement, bool (*holds)(const Call&),
                      std::vector<spec::Violation<Op>> violations) {
    return spec::Requirement<Op>{.id = id,
                                 .statement = statement,
                                 .source = {"operator.hpp", "requirements"},
                                 .standing = spec::Standing::documented,
                                 .sides = violations.empty()
                                              ? std::vector{Side::accept}
                                              : std::vector{Side::accept, Side::reject},
                                 .applies = always,
                                 .holds = holds,
                                 .violations = std::move(violations)};
  };
  static const std::vector<spec::Requirement<Op>> rows = {
      row("TOY-C1", "output_grad and input_grad are not null.",
          [](const Call& c) {
            return c.parameters.output_grad.present && c.parameters.input_grad.present;
          },
          {{"output_grad", [](Call& c) { c.parameters.output_grad.present = false; }},
           {"input_grad", [](Call& c) { c.parameters.input_grad.present = false; }}}),
      row("TOY-C2", "Both are FLOAT16 or both BFLOAT16.",
          [](const Call& c) {
            const spec::DType type = c.parameters.output_grad.dtype;
            return (type == spec::DType::fp16 || type == spec::DType::bf16) &&
                   c.parameters.input_grad.dtype == type;
          },
          {{"fp32", [](Call& c) { c.parameters.output_grad.dtype = spec::DType::fp32; }}}),
      row("TOY-C3", "Both have the same shape.",
          [](const Call& c) {
            return c.parameters.output_grad.shape == c.parameters.input_grad.shape;
          },
          {{"input_grad", [](Call& c) { ++c.parameters.input_grad.shape.back(); }}}),
      row("TOY-C4", "window is positive.", [](const Call& c) { return c.attributes.window > 0; },
          {{"zero", [](Call& c) { c.attributes.window = 0; }}}),
      row("TOY-C5", "Atlas A2 training products offer it.", always, {})};
  return rows;
}

}  // namespace assay::toy

template <>
inline constexpr auto assay::spec::spellings_of<assay::toy::Entry> =
    Spellings<assay::toy::Entry, 1>{{{{assay::toy::Entry::t1, "t1"}}}};
