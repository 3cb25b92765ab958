#include "assay/spec/operators/toy_operator.hpp"
#include "operators/described.hpp"
#include "operators/stock.hpp"

namespace assay::spec {
namespace {

using Op = ToyOperator;
using P = Op::Parameters;
using Row = Requirement<Op>;

/// Makes a requirement with the section of the document that states it. EDIT: the document.
Row stated(std::string_view id, std::string_view section, std::string_view statement,
           ExpectedStatus status = any_refusal) {
  return {.id = id,
          .statement = statement,
          .source = {"toy_operator.hpp", section},
          .standing = Standing::documented,
          .status = status};
}

/// EDIT: one requirement for each sentence of the document, in the order of their ids.
std::vector<Row> rows() {
  using namespace nsa;
  constexpr auto tensors = all_tensors<Op>;
  Row window = stated("TOY-C05", "parameters", "The window has 1 to T tokens.");
  window.applies = [](const Call<Op>& c) { return has_listed_ranks(c, all_tensors<Op>, true); };
  window.holds = [](const Call<Op>& c) {
    const std::int64_t size = c.attributes.window;
    return !has_listed_ranks(c, all_tensors<Op>, true) ||
           (size > 0 && size <= c.parameters.input.shape[0]);
  };
  window.violations = {{"zero", [](Call<Op>& c) { c.attributes.window = 0; }}};
  Row shapes = stated("TOY-C06", "parameters",
                      "weight is (W, N), and output is (T - W + 1, N, D) for input (T, N, D).");
  shapes.applies = window.applies;
  shapes.holds = [](const Call<Op>& c) {
    const auto& [input, weight, output] = c.parameters;
    if (!has_listed_ranks(c, all_tensors<Op>, true) || c.attributes.window <= 0) return true;
    const Shape& in = input.shape;
    return weight.shape == Shape{c.attributes.window, in[1]} &&
           output.shape == Shape{in[0] - c.attributes.window + 1, in[1], in[2]};
  };
  shapes.violations = {{"weight", grow_one<Op, &P::weight, 0>},
                       {"output", grow_one<Op, &P::output, 0>}};
  return {not_null(tensors, stated("TOY-C01", "return values", "No tensor is null.",
                                   exactly(Status::param_nullptr))),
          of_16_bits<DType::fp32, DType::fp32, DType::fp32>(
              tensors, stated("TOY-C02", "parameters", "Tensors are FLOAT16 or BFLOAT16.")),
          of_type_of<&P::input>(Tensors<Op, &P::weight, &P::output>(),
                                stated("TOY-C03", "parameters", "All have the type of input.")),
          of_listed_rank(tensors, stated("TOY-C04", "parameters",
                                         "input and output have three axes, weight has two.")),
          window,
          shapes,
          of_plain_format<Format::nc1hwc0, Format::nc1hwc0, Format::nc1hwc0>(
              tensors, stated("TOY-C07", "parameters", {})),
          maybe_strided(tensors, stated("TOY-C08", "parameters", {})),
          offered_on_a2<Op>(stated("TOY-C09", "products", "Atlas A2 products offer it.")),
          not_offered_on_a3<Op>(stated("TOY-C10", "products", "Atlas A3 products do not."))};
}

}  // namespace

std::span<const Row> ToyOperator::requirements() {
  static const auto all = nsa::sorted_requirements<Op>({rows});
  return all;
}

bool supports(ToyOperatorEntryPoint, Product product) { return product == Product::a2; }
std::string_view product_requirement(ToyOperatorEntryPoint, Product product) {
  return product == Product::a2 ? "TOY-C09" : "TOY-C10";
}

Extents input_extents(const ToyOperatorProblem& p) { return {1, p.heads, p.seq, p.head_dim}; }
Extents weight_extents(const ToyOperatorProblem& p) { return {1, p.heads, p.window, 1}; }
Extents output_extents(const ToyOperatorProblem& p) {
  return {1, p.heads, p.seq - p.window + 1, p.head_dim};
}

Call<Op> call_of(const ToyOperatorProblem& p, ToyOperatorEntryPoint entry_point, Product product,
                 const Strides& inputs, const Strides& outputs) {
  Call<Op> call = detail::call_with_tensors<Op>(p, entry_point, product, inputs, outputs);
  call.attributes.window = p.window;
  return call;
}

}  // namespace assay::spec
