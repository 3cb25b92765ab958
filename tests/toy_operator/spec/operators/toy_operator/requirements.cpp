#include "assay/spec/operators/toy_operator.hpp"
#include "operators/stock.hpp"

namespace assay::spec {
namespace {

using Op = ToyOperator;
using P = Op::Parameters;
using Row = Requirement<Op>;

/// Makes a requirement with the section of the document that states it. EDIT: the document.
Row stated(std::string_view id, std::string_view section, std::string_view statement) {
  return {.id = id,
          .statement = statement,
          .source = {"toy_operator.hpp", section},
          .standing = Standing::documented};
}

/// Returns the problem that a call with the listed ranks computes. EDIT.
Op::Problem problem_of(const Call<Op>& c) {
  const Shape& input = c.parameters.input.shape;
  return {.heads = input[1], .seq = input[0], .head_dim = input[2], .window = c.attributes.window};
}

/// EDIT: one requirement for each sentence of the document.
std::vector<Row> rows() {
  using namespace nsa;
  return {tested(stated("TOY-C05", "parameters", "The window has 1 to T tokens."),
                 [](const Call<Op>& c) {
                   if (!has_listed_ranks(c, all_tensors<Op>, true)) return true;
                   return c.attributes.window > 0 && c.attributes.window <= problem_of(c).seq;
                 },
                 {{"zero", [](Call<Op>& c) { c.attributes.window = 0; }}}),
          of_listed_shape<problem_of>(
              Tensors<Op, &P::weight, &P::output>(),
              stated("TOY-C06", "parameters",
                     "weight is (W, N), and output is (T - W + 1, N, D) for input (T, N, D)."))};
}
/// EDIT: the ids of the requirements that most documents state.
std::vector<Row> usual_rows() {
  return nsa::stock_requirements(nsa::all_tensors<Op>,
                                 {.not_null = "TOY-C01",
                                  .of_16_bits = "TOY-C02",
                                  .of_one_type = "TOY-C03",
                                  .of_listed_rank = "TOY-C04",
                                  .of_plain_format = "TOY-C07",
                                  .maybe_strided = "TOY-C08",
                                  .offered_on_a2 = "TOY-C09",
                                  .not_offered_on_a3 = "TOY-C10"},
                                 stated);
}

}  // namespace

std::span<const Row> ToyOperator::requirements() {
  static const auto all = nsa::sorted_requirements<Op>({rows, usual_rows});
  return all;
}

}  // namespace assay::spec
