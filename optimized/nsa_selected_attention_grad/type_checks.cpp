#include "nsa_selected_attention_grad/checks.hpp"
#include "selection/call_checks.hpp"

namespace assay::optimized::selected {
namespace {

using Call = Check::Call;
using spec::DType;

Refusal operands(const Call& call) {
  const auto& p = call.parameters;
  return first_outside({{"query", &p.query},
                        {"key", &p.key},
                        {"value", &p.value},
                        {"attention_out", &p.attention_out},
                        {"attention_out_grad", &p.attention_out_grad}},
                       {DType::fp16, DType::bf16});
}

Refusal operands_alike(const Call& call) {
  const auto& p = call.parameters;
  return first_unlike_query(p.query, {{"key", &p.key},
                                      {"value", &p.value},
                                      {"attention_out", &p.attention_out},
                                      {"attention_out_grad", &p.attention_out_grad}});
}

Refusal gradients(const Call& call) {
  const auto& p = call.parameters;
  return first_outside({{"dq", &p.dq}, {"dk", &p.dk}, {"dv", &p.dv}}, {DType::fp16, DType::bf16});
}

Refusal gradients_alike(const Call& call) {
  const auto& p = call.parameters;
  return first_unlike_query(p.query, {{"dq", &p.dq}, {"dk", &p.dk}, {"dv", &p.dv}});
}

Refusal formats(const Call& call) {
  const auto& p = call.parameters;
  const NamedParameter tensors[] = {{"query", &p.query},
                                    {"key", &p.key},
                                    {"value", &p.value},
                                    {"attention_out", &p.attention_out},
                                    {"attention_out_grad", &p.attention_out_grad},
                                    {"softmax_max", &p.softmax_max},
                                    {"softmax_sum", &p.softmax_sum},
                                    {"atten_mask", &p.atten_mask},
                                    {"dq", &p.dq},
                                    {"dk", &p.dk},
                                    {"dv", &p.dv}};
  return first_private(tensors);
}

Refusal index_format(const Call& call) {
  const NamedParameter tensors[] = {{"topk_indices", &call.parameters.topk_indices}};
  return first_private(tensors);
}

constexpr auto invalid = spec::Status::param_invalid;
constexpr Check checks[] = {
    {"NSAS-C04", invalid, operands},         {"NSAS-C09", invalid, operands_alike},
    {"NSAS-C05", invalid, statistics_type},  {"NSAS-C06", invalid, index_type},
    {"NSAS-C07", invalid, mask_type},        {"NSAS-C08", invalid, gradients},
    {"NSAS-C08a", invalid, gradients_alike}, {"NSAS-C10", invalid, formats},
    {"NSAS-C10a", invalid, index_format},
};

}  // namespace

std::span<const Check> type_checks() { return checks; }

}  // namespace assay::optimized::selected
