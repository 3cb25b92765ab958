#include <utility>

#include "nsa_selected_attention_grad/checks.hpp"
#include "selection/call_checks.hpp"

namespace assay::optimized::selected {
namespace {

using Call = Check::Call;

constexpr std::int64_t most_sequences = 2 * 1024 * 1024;

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

Refusal numbers_of_sequences(const Call& call) {
  const auto& p = call.parameters;
  for (const auto& [name, sums] : {std::pair{"actual_seq_qlen", &*p.actual_seq_qlen},
                                   {"actual_seq_kvlen", &*p.actual_seq_kvlen}})
    if (const Refusal refusal = within("number of entries of " + std::string(name),
                                       std::ssize(*sums), 1, most_sequences))
      return refusal;
  return std::nullopt;
}

constexpr auto null = spec::Status::param_nullptr, invalid = spec::Status::param_invalid;
constexpr Check checks[] = {
    {"NSAS-C02", null, tensors},
    {"NSAS-C03", null, pointers},
    // The cumulative lengths are required, because no other argument determines the number of
    // sequences.
    {"NSAS-C14", null, sums_given},
    {"NSAS-C24", invalid, numbers_of_sequences},
};

}  // namespace

std::span<const Check> presence_checks() { return checks; }

}  // namespace assay::optimized::selected
