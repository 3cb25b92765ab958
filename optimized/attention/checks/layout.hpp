#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "attention/checks/call_extents.hpp"
#include "checks/refusals.hpp"

/// Checks of headNum, the layout, ranks and cumulative lengths. The function extents_of requires
/// that these checks passed.
namespace assay::optimized::attention {

template <class Op>
Refusal head_num_positive(const spec::Call<Op>& call) {
  return unless(call.attributes.head_num > 0,
                "headNum is " + std::to_string(call.attributes.head_num) +
                    "; it must be the number of query heads, at least 1");
}

/// Checks the layout string of padded entry points. Another function checks it for the unpadding
/// entry points.
template <class Op>
Refusal padded_layout(const spec::Call<Op>& call) {
  const auto layout = layout_of(call);
  return unless(layout.has_value() && (is_tnd(call) || layout != (spec::Layout::tnd)),
                "inputLayout is \"" + *call.attributes.input_layout +
                    "\"; it must be BSH, SBH, BSND or BNSD");
}

/// Checks the ranks of the tensors that have the axes of the layout.
template <class Op>
Refusal ranks_of(const spec::Call<Op>& call, const std::vector<NamedParameter>& tensors) {
  const std::size_t rank = call.attributes.input_layout->size();
  for (const NamedParameter& tensor : tensors)
    if (tensor.parameter->shape.size() != rank)
      return "rank of " + std::string(tensor.name) + " is " +
             std::to_string(tensor.parameter->shape.size()) + "; layout " +
             *call.attributes.input_layout + " needs " + std::to_string(rank);
  return std::nullopt;
}

template <class Op>
Refusal some_sequence(const spec::Call<Op>& call) {
  if (!is_tnd(call) || !call.parameters.actual_seq_qlen->empty()) return std::nullopt;
  return "actual_seq_qlen has 0 entries; it needs at least 1";
}

template <class Op>
Refusal sums_counted(const spec::Call<Op>& call) {
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

template <class Op>
std::vector<Sums> sums_of(const spec::Call<Op>& call) {
  if (!is_tnd(call)) return {};
  const auto& p = call.parameters;
  return {{"actual_seq_qlen", &*p.actual_seq_qlen, p.query.shape.front()},
          {"actual_seq_kvlen", &*p.actual_seq_kvlen, p.key.shape.front()}};
}

template <class Op>
Refusal sums_do_not_decrease(const spec::Call<Op>& call) {
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

template <class Op>
Refusal sums_fit(const spec::Call<Op>& call) {
  for (const auto& [name, sums, tokens] : sums_of(call))
    if (sums->back() > tokens)
      return "last entry of " + std::string(name) + " is " + std::to_string(sums->back()) +
             "; it must be at most the number of tokens, which is " + std::to_string(tokens);
  return std::nullopt;
}
}  // namespace assay::optimized::attention
