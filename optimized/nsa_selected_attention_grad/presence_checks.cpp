#include "checks/refusals.hpp"
#include "nsa_selected_attention_grad/checks.hpp"

namespace assay::optimized::selected {
namespace {

using Call = Check::Call;

Refusal tensors(const Call& call) {
  const auto& p = call.parameters;
  return first_missing({{"query", p.query.present},
                        {"key", p.key.present},
                        {"value", p.value.present},
                        {"attention_out", p.attention_out.present},
                        {"attention_out_grad", p.attention_out_grad.present},
                        {"softmax_max", p.softmax_max.present},
                        {"softmax_sum", p.softmax_sum.present},
                        {"topk_indices", p.topk_indices.present},
                        {"dq", p.dq.present},
                        {"dk", p.dk.present},
                        {"dv", p.dv.present}});
}

Refusal pointers(const Call& call) {
  return first_missing({{"inputLayout", call.attributes.input_layout.has_value()},
                        {"workspaceSize", call.parameters.workspace_size},
                        {"executor", call.parameters.executor}});
}

/// Nothing else says how many sequences there are.
Refusal sums_of_lengths(const Call& call) {
  const auto& p = call.parameters;
  return first_missing({{"actual_seq_qlen", p.actual_seq_qlen.has_value()},
                        {"actual_seq_kvlen", p.actual_seq_kvlen.has_value()}});
}

Refusal some_sums(const Call& call) {
  const auto& p = call.parameters;
  if (p.actual_seq_qlen->empty()) return "actual_seq_qlen has 0 entries; it needs at least 1";
  return unless(!p.actual_seq_kvlen->empty(),
                "actual_seq_kvlen has 0 entries; it needs at least 1");
}

constexpr auto null = spec::Status::param_nullptr;
constexpr Check checks[] = {
    {"NSAS-C02", null, tensors},
    {"NSAS-C03", null, pointers},
    {"NSAS-C14", null, sums_of_lengths},
    {"NSAS-C14", spec::Status::param_invalid, some_sums},
};

}  // namespace

std::span<const Check> presence_checks() { return checks; }

}  // namespace assay::optimized::selected
