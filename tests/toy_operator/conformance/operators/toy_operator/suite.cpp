#include "bilinear/suite.hpp"

#include "assay/conformance/operators/toy_operator.hpp"
#include "assay/reference/toy_operator.hpp"

namespace assay::conformance {

using Op = spec::ToyOperator;
using Problem = Op::Problem;

template <>
struct bilinear::Traits<Op> : bilinear::PlainTraits<Op> {
  /// Lists the products of every token of the output. The reference, the tolerances and the exact
  /// cases follow from them. EDIT.
  static Form form(const Problem& p) {
    enum Number : std::size_t { input, weight };
    const auto window = [w = p.window](std::int64_t token, std::vector<RowPair>& pairs) {
      for (std::int64_t k = 0; k < w; ++k) pairs.push_back({k, token + k});
    };
    return form_of_table<Op>(
        p, {{.left = weight, .right = input, .products = p.window, .pairs = window}});
  }

  /// The operator's formula, with high precision. The reference is compared with its rows to prove
  /// its error.
  using Oracle = reference::ToyOperator<reference::Wide, float>;
  static std::vector<reference::Wide> row(const Oracle& oracle, std::size_t,
                                          const spec::RowPosition& row) {
    return oracle.output_row(row.n, row.s);
  }

  /// EDIT: the limits of every size, and the values of random cases. A kernel may handle each group
  /// of values in a special way.
  static constexpr Field<Problem> fields[] = {
      {&Problem::heads, 1, 64, {{"one", 1, 1}, {"several", 2, 4}}},
      {&Problem::seq, 1, 4096, {{"any", 24, 90}}},
      {&Problem::head_dim, 1, 256, {{"any", 1, 40}}},
      {&Problem::window, 1, 4096, {{"short", 1, 8}, {"long", 9, 24}}, "TOY-C05"}};
  static void require_possible(const Problem& p) {
    if (p.window > p.seq)
      refuse("window", std::to_string(p.window), "1 to seq, which is " + std::to_string(p.seq));
  }

  /// EDIT: input profiles in addition to normal, all_positive and negative_INPUT.
  static constexpr Profile profiles[] = {
      {"offset", "the elements have mean 3 and standard deviation 1/2", profile::offset}};

  /// EDIT: relations between the results of several runs. Every correct kernel must satisfy them.
  static constexpr Relation<Op> relations[] = {
      {"scale_weight", "If weight is multiplied by a power of two, so is the output.",
       Agreement::bits, is_not_fp16, "bf16, if all values are far from overflow and underflow",
       [](const Trial<Op>& base) { return scaled(base, &FixedRows<Op>::Rows::second); }}};
};

template struct BilinearSuite<Op>;
template struct bilinear::FixedRows<Op>;
template struct bilinear::SuiteOf<Op>;

}  // namespace assay::conformance
