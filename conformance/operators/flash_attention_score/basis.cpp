#include "operators/flash_attention_score/basis.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "attention/flash/padding.hpp"
#include "attention/lse.hpp"
#include "attention/variant/variant_pattern.hpp"

namespace assay::conformance::attention::flash_forward {
namespace {

const spec::Tensor* pointer(const std::optional<spec::Tensor>& tensor) {
  return tensor ? &*tensor : nullptr;
}

std::shared_ptr<const KeyPattern> pattern_of(const Case<Op>& c, const Op::Inputs& inputs) {
  const spec::Tensor* mask = pointer(inputs.atten_mask);
  auto variant = variant_of(c.variant, c.problem);
  if (variant == nullptr) return std::make_shared<MaskPattern>(c.problem, mask);
  return std::make_shared<VariantPattern>(c.problem, mask, std::move(variant));
}

/// Returns the problem and its inputs. The memory order of the softmax statistics is the order that
/// the kernel's numerics declare.
Dense dense_of(const Case<Op>& c, const Op::Inputs& inputs, const Arithmetic& arithmetic) {
  return {Suite<Op>::as_declared(c.problem, c.entry_point, arithmetic.numerics),
          Operands{.query = &inputs.query,
                   .key = &inputs.key,
                   .value = &inputs.value,
                   .query_rope = pointer(inputs.query_rope),
                   .key_rope = pointer(inputs.key_rope),
                   .pse_shift = pointer(inputs.pse_shift),
                   .drop_mask = pointer(inputs.drop_mask),
                   .sink = pointer(inputs.sink)},
          pattern_of(c, inputs)};
}

ForwardTensors tensors_of(const Op::Outputs& outputs) {
  return {outputs.softmax_max, outputs.softmax_sum, outputs.attention_out};
}

}  // namespace

Basis::Basis(const Case<Op>& c, const Op::Inputs& inputs, const Arithmetic& arithmetic)
    : ForwardBasis(dense_of(c, inputs, arithmetic),
                   judged_of(query_extents(c.problem), c.rows, c.seed), arithmetic, c.seed),
      case_(c),
      inputs_(inputs) {}

std::vector<Expectation> Basis::expectations_of_run() const {
  std::vector<Expectation> all = expectations();
  if (saves_lse(numerics())) return all;
  const auto named = [&](std::string_view name) -> Expectation& {
    return *std::ranges::find(all, name, &Expectation::name);
  };
  const Expectation& max = named("softmax_max");
  Expectation& sum = named("softmax_sum");
  for (std::size_t k = 0; k < sum.value.size(); ++k) {
    if (sum.value[k] > 0x1p100) continue;  // a fully masked row
    const auto widen = [&](auto& tau, double of_max) {
      tau[k] = static_cast<float>(tau[k] * std::exp(of_max) + sum.value[k] * std::expm1(of_max));
    };
    widen(sum.tau, max.tau[k]);
    widen(sum.tau_det, max.tau_det[k]);
  }
  return all;
}

/// Rows of padding tokens are not judged, because the documentation does not define them.
std::vector<Finding> Basis::check_structure(const Op::Outputs& outputs) const {
  const std::int64_t padding = case_.problem.padding_q;
  if (padding == 0) return ForwardBasis::check_structure(tensors_of(outputs));
  Op::Outputs cleared = outputs;
  visit_fields(cleared,
               [&](const char*, spec::Tensor& tensor) { flash::clear_padding(tensor, padding); });
  return ForwardBasis::check_structure(tensors_of(cleared));
}

std::unique_ptr<Definition> Basis::definition() const {
  return definition_from(
      definition_of(case_.problem, inputs_, variant_of(case_.variant, case_.problem)));
}

std::vector<double> Basis::values(const RowsOf& rows, const Op::Outputs& outputs) const {
  return ForwardBasis::values(rows, tensors_of(outputs));
}

}  // namespace assay::conformance::attention::flash_forward
