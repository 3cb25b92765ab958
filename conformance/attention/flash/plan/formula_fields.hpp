#pragma once

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/conformance/plan/formula_fields.hpp"
#include "attention/flash/plan/factors.hpp"

/// The problem fields on which the formulas depend. Each field has a list of factor values. With
/// these values, a kernel that uses a wrong value of the field computes wrong outputs.
namespace assay::conformance::attention::flash {

using Choices = std::vector<Choice>;

inline constexpr std::int64_t every_token = 0x7fffffff;

inline bool passes_mask(const Problem& p) { return p.atten_mask != spec::MaskShape::absent; }
inline bool reads_window(const Problem& p) {
  const std::int64_t mode = p.sparse_mode;
  return passes_mask(p) && (mode == 4 || mode == 7 || mode == 8);
}
inline bool reads_distances(const Problem& p) {
  return p.pse_shift != spec::PseShape::absent && p.pse_type >= 2 && !p.q_start_idx.empty() &&
         !p.kv_start_idx.empty();
}

/// Returns the factor values (properties of a case) with which a call has a mask, of any shape.
template <class Op>
Choices with_mask() {
  Choices choices;
  for (const auto& [shape, name] : spec::spellings_of<spec::MaskShape>.entries)
    if (shape != spec::MaskShape::absent) choices.push_back(factors<Op>().choice({{"mask", name}}));
  return choices;
}

template <class Op>
Choices masked_in(std::initializer_list<std::string_view> modes) {
  Choices choices;
  for (const std::string_view mode : modes) {
    const Choice of_mode = factors<Op>().choice({{"sparse_mode", mode}});
    for (Choice choice : with_mask<Op>()) {
      for (std::size_t f = 0; f < choice.size(); ++f)
        if (of_mode[f] != undecided) choice[f] = of_mode[f];
      choices.push_back(std::move(choice));
    }
  }
  return choices;
}

template <class Op>
Choices with_starts() {
  Choices choices;
  for (const std::string_view type : {"2", "3"})
    choices.push_back(factors<Op>().choice({{"pse_type", type}, {"start", "key_ahead"}}));
  return choices;
}

template <class Op>
std::vector<FormulaField<Op>> fields_of_scalars() {
  return {
      {"scale_value",
       [](const Case<Op>&) { return true; },
       [](Problem& p) { p.scale_value = p.scale_value == 0 ? 0.5 : 1.25 * p.scale_value; },
       {factors<Op>().choice({})}},
      {"keep_prob",
       [](const Case<Op>& c) { return c.problem.has_dropout(); },
       [](Problem& p) { p.keep_prob *= 0.75; },
       {factors<Op>().choice({{"dropout", "exact"}}),
        factors<Op>().choice({{"dropout", "granules"}})}},
  };
}

/// The fields that describe masks. Kernels read the window only with compressed masks; other masks
/// already exclude the keys outside the window.
template <class Op>
std::vector<FormulaField<Op>> fields_of_masks() {
  return {
      {"sparse_mode",
       [](const Case<Op>& c) {
         return passes_mask(c.problem) && is_compressed(c.problem.atten_mask) &&
                c.problem.sparse_mode >= 2;
       },
       [](Problem& p) { p.sparse_mode = p.sparse_mode == 3 || p.sparse_mode == 8 ? 2 : 3; },
       masked_in<Op>({"2", "3", "4", "6", "7", "8"})},
      {"pre_tokens", [](const Case<Op>& c) { return reads_window(c.problem); },
       [](Problem& p) { p.pre_tokens = every_token; }, masked_in<Op>({"4", "7", "8"})},
      {"next_tokens", [](const Case<Op>& c) { return reads_window(c.problem); },
       [](Problem& p) { p.next_tokens = every_token; }, masked_in<Op>({"4", "7", "8"})},
      {"prefix",
       [](const Case<Op>& c) { return passes_mask(c.problem) && c.problem.sparse_mode == 6; },
       [](Problem& p) { std::ranges::fill(p.prefix, 0); }, masked_in<Op>({"6"})},
  };
}

template <class Op>
std::vector<FormulaField<Op>> fields_of_biases() {
  Choices biased;
  for (const std::string_view type : {"0", "1", "2", "3"})
    biased.push_back(factors<Op>().choice({{"pse_type", type}}));
  return {
      {"pse_type", [](const Case<Op>& c) { return c.problem.pse_shift != spec::PseShape::absent; },
       [](Problem& p) { p.pse_type ^= 1; }, biased},
      {"q_start_idx", [](const Case<Op>& c) { return reads_distances(c.problem); },
       [](Problem& p) { ++p.q_start_idx[0]; }, with_starts<Op>()},
      {"kv_start_idx", [](const Case<Op>& c) { return reads_distances(c.problem); },
       [](Problem& p) { ++p.kv_start_idx[0]; }, with_starts<Op>()},
  };
}

/// Returns the field for the memory order of the statistics. Only operators that read statistics
/// have this field.
template <class Op>
FormulaField<Op> statistics_order_field() {
  return {"statistics_order",
          [](const Case<Op>& c) {
            return is_packed(c.problem.input_layout) &&
                   spec::is_order_of_statistics_seen(c.problem);
          },
          [](Problem& p) {
            using enum spec::StatisticsOrder;
            p.statistics_order = p.statistics_order == heads_first ? tokens_first : heads_first;
          },
          {factors<Op>().choice({{"layout", "TND"}, {"statistics", "tokens_first"}})}};
}

template <class Op>
std::vector<FormulaField<Op>> formula_fields() {
  std::vector<FormulaField<Op>> fields = fields_of_scalars<Op>();
  if (Traits<Op>::reads_statistics) fields.push_back(statistics_order_field<Op>());
  for (const auto& more : {fields_of_masks<Op>(), fields_of_biases<Op>()})
    fields.insert(fields.end(), more.begin(), more.end());
  return fields;
}

}  // namespace assay::conformance::attention::flash
