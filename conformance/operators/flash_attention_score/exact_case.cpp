#include "attention/exact/exact_case.hpp"

#include <cmath>
#include <utility>

#include "assay/conformance/inputs/inputs.hpp"
#include "assay/reference/flash_attention_score.hpp"
#include "attention/mask_pattern.hpp"
#include "judge/relations/places.hpp"
#include "operators/flash_attention_score/basis.hpp"
#include "operators/flash_attention_score/relations/relations.hpp"

namespace assay::conformance {
namespace {

using Op = spec::FlashAttentionScore;

/// Returns the entry point of the gradient operator that has the same parameters as this forward
/// entry point.
spec::FlashEntryPoint of_gradient(spec::FlashForwardEntryPoint entry_point) {
  using From = spec::FlashForwardEntryPoint;
  using To = spec::FlashEntryPoint;
  switch (entry_point) {
    case From::f1:
      return To::g1;
    case From::f2:
      return To::g2;
    case From::l1:
      return To::u1;
    case From::l2:
      return To::u2;
    case From::f3:
      return To::g3;
    case From::l5:
      return To::u5;
    case From::l3:
      break;
  }
  return To::u3;
}

/// In an exact case, each row attends to a few keys. The weights of all other keys are below 2^-100
/// and become 0 here, as they do in fp32.
double without_lowered_keys(double value) { return std::abs(value) < 0x1p-100 ? 0 : value; }

/// Returns whether every kernel computes this row exactly. This is true if the maximum is an fp32
/// number and the sum is a small power of two.
bool is_exact(const reference::AttentionRow<double>& row) {
  int exponent = 0;
  return static_cast<double>(static_cast<float>(row.softmax_max)) == row.softmax_max &&
         std::frexp(row.softmax_sum, &exponent) == 0.5 && row.softmax_sum <= 8;
}

bool is_masked(const reference::AttentionRow<double>& row) { return row.softmax_sum > 0x1p100; }

void add_rows(const Case<Op>& c, ForwardExactCase& result) {
  const auto definition = reference::FlashAttentionScore<double>::from(c.problem, result.inputs);
  const spec::Extents queries = query_extents(c.problem);
  for (const std::int64_t number : judged_of(queries, c.rows, c.seed)) {
    const auto [b, n, i] = queries.position(number);
    if (c.problem.length_kv(b) == 0) continue;  // two answers are right
    const auto row = definition.row(b, n, i);
    if (!is_exact(row) && !is_masked(row)) continue;
    result.rows.push_back(number);
    result.softmax_max.push_back(dyadic_of(row.softmax_max));
    result.softmax_sum.push_back(dyadic_of(row.softmax_sum));
    for (const double value : row.attention_out)
      result.attention_out.push_back(dyadic_of(without_lowered_keys(value)));
  }
  if (result.rows.empty())
    throw NoExactCase("no judged row attends to exactly 0, 1, 2, 4 or 8 keys");
}

}  // namespace

ForwardExactCase Suite<Op>::exact(const Case<Op>& c, const spec::Numerics& numerics,
                                  ExactPart part) {
  auto mask = make_mask(c);
  const attention::MaskPattern key_pattern(c.problem, mask ? &*mask : nullptr);
  const AttentionExactCase of_gradient_case =
      exact::attending({.problem = c.problem,
                        .entry_point = of_gradient(c.entry_point),
                        .product = c.product,
                        .inputs = c.inputs,
                        .outputs = {},
                        .track = c.track,
                        .rows = c.rows,
                        .seed = c.seed},
                       numerics, key_pattern, ExactPart::inputs);
  // The strides of a tensor depend on its position in the call. This position is different in a
  // call of the gradient, so the tensors get new strides.
  const auto& given = of_gradient_case.inputs;
  const Op::Parameters own = call_of(c).parameters;
  const auto if_present = [](const std::optional<spec::Tensor>& tensor,
                             const spec::Parameter& parameter) {
    return tensor ? std::optional(restrided(*tensor, parameter)) : std::nullopt;
  };
  ForwardExactCase result{.inputs = {.query = restrided(given.query, own.query),
                                     .key = restrided(given.key, own.key),
                                     .value = restrided(given.value, own.value),
                                     .atten_mask = std::move(mask),
                                     .pse_shift = if_present(given.pse_shift, own.pse_shift),
                                     .drop_mask = if_present(given.drop_mask, own.drop_mask),
                                     .query_rope = if_present(given.query_rope, own.query_rope),
                                     .key_rope = if_present(given.key_rope, own.key_rope)}};
  if (part == ExactPart::all) add_rows(c, result);
  return result;
}

std::vector<ExactTensor> Suite<Op>::exact_tensors(const ForwardExactCase& exact_case,
                                                  const Op::Problem& problem) {
  return {{"softmax_max", exact_case.softmax_max, exact_case.rows, 1},
          {"softmax_sum", exact_case.softmax_sum, exact_case.rows, 1},
          {"attention_out", exact_case.attention_out, exact_case.rows, problem.head_dim_v}};
}

void Suite<Op>::compare_exact(const ForwardExactCase& exact_case, const Op::Problem& problem,
                              const Op::Outputs& outputs, const spec::Numerics& numerics,
                              CaseReport& report) {
  const Op::Problem declared = as_declared(problem, spec::FlashForwardEntryPoint{}, numerics);
  compare_with_exact<Op>(exact_tensors(exact_case, problem), declared, outputs, numerics, report);
}

}  // namespace assay::conformance
