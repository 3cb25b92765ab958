#include <array>

#include "checks/refusals.hpp"
#include "nsa_selected_attention_grad/checks.hpp"
#include "selection/call_checks.hpp"

namespace assay::optimized::selected {
namespace {

using Call = Check::Call;

constexpr std::int64_t packed_rank = 3, longest_rank = 4;

std::array<NamedParameter, 3> operands(const Call& call) {
  const auto& p = call.parameters;
  return {{{"query", &p.query}, {"key", &p.key}, {"value", &p.value}}};
}

Refusal ranks(const Call& call) {
  const auto& p = call.parameters;
  for (const NamedParameter& tensor : operands(call))
    if (const Refusal refusal =
            within("rank of " + std::string(tensor.name), std::ssize(tensor.parameter->shape),
                   packed_rank, longest_rank))
      return refusal;
  for (const NamedParameter& tensor : {NamedParameter{"attention_out", &p.attention_out},
                                       {"attention_out_grad", &p.attention_out_grad},
                                       {"softmax_max", &p.softmax_max},
                                       {"softmax_sum", &p.softmax_sum},
                                       {"topk_indices", &p.topk_indices}})
    if (const Refusal refusal = rank_is(tensor, packed_rank)) return refusal;
  return std::nullopt;
}

/// Checks the ranks. The documentation page also allows four axes, but defines no layout with four
/// axes.
Refusal ranks_of_layout(const Call& call) {
  for (const NamedParameter& tensor : operands(call))
    if (const Refusal refusal = rank_is(tensor, packed_rank)) return refusal;
  return std::nullopt;
}

/// Checks that the cumulative lengths strictly increase. Therefore no sequence is empty, and the
/// first entry is not 0.
Refusal sums_rise(std::string_view name, const std::vector<std::int64_t>& sums,
                  std::int64_t tokens) {
  std::int64_t before = 0;
  for (std::size_t b = 0; b < sums.size(); ++b) {
    if (sums[b] <= before)
      return "entry " + std::to_string(b) + " of " + std::string(name) + " is " +
             std::to_string(sums[b]) + "; it must be larger than the previous sum, which is " +
             std::to_string(before);
    before = sums[b];
  }
  return unless(before == tokens,
                "last entry of " + std::string(name) + " is " + std::to_string(before) +
                    "; it must be the number of tokens, which is " + std::to_string(tokens));
}

Refusal sums_fit(const Call& call) {
  const auto& p = call.parameters;
  if (const Refusal refusal =
          sums_rise("actual_seq_qlen", *p.actual_seq_qlen, p.query.shape.front()))
    return refusal;
  return sums_rise("actual_seq_kvlen", *p.actual_seq_kvlen, p.key.shape.front());
}

constexpr auto invalid = spec::Status::param_invalid;
constexpr Check checks[] = {
    {"NSAS-C11", invalid, layout},           {"NSAS-C12", invalid, ranks},
    {"NSAS-C12a", invalid, ranks_of_layout}, {"NSAS-C36", invalid, mask_axes},
    {"NSAS-C13", invalid, sums_counted},     {"NSAS-C15", invalid, sums_fit},
    {"NSAS-C33", invalid, sparse_mode},      {"NSAS-C34", invalid, block_size},
    {"NSAS-C35", invalid, block_count},      {"NSAS-C17a", invalid, head_num},
};

}  // namespace

std::span<const Check> frame_checks() { return checks; }

}  // namespace assay::optimized::selected
