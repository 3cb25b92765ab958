#include "checks/refusals.hpp"
#include "flash_attention_score_grad/checks/call_extents.hpp"
#include "flash_attention_score_grad/checks/checks.hpp"

namespace assay::optimized {
namespace {

using Call = Check::Call;
using Named = NamedParameter;

/// The tensors whose axes the layout defines.
std::vector<Named> attention_tensors(const Call& call) {
  const auto& p = call.parameters;
  return {{"query", &p.query},
          {"key", &p.key},
          {"value", &p.value},
          {"dy", &p.dy},
          {"attention_in", &p.attention_in},
          {"dq", &p.dq},
          {"dk", &p.dk},
          {"dv", &p.dv}};
}

std::vector<Named> rope_tensors(const Call& call) {
  if (!spec::has_rope(call.entry_point)) return {};
  const auto& p = call.parameters;
  return {{"query_rope", &p.query_rope},
          {"key_rope", &p.key_rope},
          {"dq_rope", &p.dq_rope},
          {"dk_rope", &p.dk_rope}};
}

Refusal head_num_positive(const Call& call) {
  return unless(call.attributes.head_num > 0,
                "headNum is " + std::to_string(call.attributes.head_num) +
                    "; it must be the number of query heads, at least 1");
}

/// Checks the layout string of the padded entry points. Another check covers the unpadding entry
/// points.
Refusal padded_layout(const Call& call) {
  const auto layout = layout_of(call);
  return unless(layout.has_value() && (is_tnd(call) || layout != (spec::Layout::tnd)),
                "inputLayout is \"" + *call.attributes.input_layout +
                    "\"; it must be BSH, SBH, BSND or BNSD");
}

Refusal ranks(const Call& call) {
  const std::size_t rank = call.attributes.input_layout->size();
  for (const auto& tensors : {attention_tensors(call), rope_tensors(call)})
    for (const Named& tensor : tensors)
      if (tensor.parameter->shape.size() != rank)
        return "rank of " + std::string(tensor.name) + " is " +
               std::to_string(tensor.parameter->shape.size()) + "; layout " +
               *call.attributes.input_layout + " needs " + std::to_string(rank);
  return std::nullopt;
}

Refusal some_sequence(const Call& call) {
  if (!is_tnd(call) || !call.parameters.actual_seq_qlen->empty()) return std::nullopt;
  return "actual_seq_qlen has 0 entries; it needs at least 1";
}

Refusal sums_counted(const Call& call) {
  if (!is_tnd(call)) return std::nullopt;
  const auto& p = call.parameters;
  const std::size_t count = p.actual_seq_qlen->size();
  return unless(p.actual_seq_kvlen->size() == count,
                "actual_seq_kvlen has " + std::to_string(p.actual_seq_kvlen->size()) +
                    " entries, actual_seq_qlen " + std::to_string(count) +
                    "; the counts must be equal");
}

struct Sums {
  std::string_view name;
  const std::vector<std::int64_t>* sums;
  std::int64_t tokens;  // length of the axis that the cumulative lengths split
};

std::vector<Sums> sums_of(const Call& call) {
  if (!is_tnd(call)) return {};
  const auto& p = call.parameters;
  return {{"actual_seq_qlen", &*p.actual_seq_qlen, p.query.shape.front()},
          {"actual_seq_kvlen", &*p.actual_seq_kvlen, p.key.shape.front()}};
}

Refusal sums_do_not_decrease(const Call& call) {
  for (const auto& [name, sums, tokens] : sums_of(call)) {
    std::int64_t before = 0;
    for (std::size_t b = 0; b < sums->size(); ++b) {
      const std::int64_t sum = (*sums)[b];
      if (sum < before)
        return "entry " + std::to_string(b) + " of " + std::string(name) + " is " +
               std::to_string(sum) + "; it must be at least the previous sum, which is " +
               std::to_string(before);
      before = sum;
    }
  }
  return std::nullopt;
}

Refusal sums_fit(const Call& call) {
  for (const auto& [name, sums, tokens] : sums_of(call))
    if (sums->back() > tokens)
      return "last entry of " + std::string(name) + " is " + std::to_string(sums->back()) +
             "; it must be at most the number of tokens, which is " + std::to_string(tokens);
  return std::nullopt;
}

Refusal no_empty_extent(const Call& call) {
  if (any_output_empty(call)) return std::nullopt;
  for (const Named& tensor : attention_tensors(call))
    if (is_empty(tensor.parameter->shape))
      return shape_of(tensor) + "; it may be empty only if dq, dk or dv is empty";
  return std::nullopt;
}

constexpr auto invalid = spec::Status::param_invalid;
constexpr Check checks[] = {
    {"FAG-C38", invalid, head_num_positive},
    {"FAG-C30", invalid, padded_layout},
    {"FAG-C32", invalid, ranks},
    {"TND-1", invalid, some_sequence},
    {"FAG-C33", invalid, sums_counted},
    {"TND-2", invalid, sums_do_not_decrease},
    {"TND-3", invalid, sums_fit},
    {"FAG-C49", invalid, no_empty_extent},
};

}  // namespace

std::span<const Check> layout_checks() { return checks; }

}  // namespace assay::optimized
