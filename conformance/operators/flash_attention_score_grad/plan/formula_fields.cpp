#include "assay/conformance/plan/formula_fields.hpp"

#include <algorithm>

#include "assay/reference/flash_attention_score_grad.hpp"
#include "attention/plan/any_row.hpp"
#include "operators/flash_attention_score_grad/plan/factors.hpp"

namespace assay::conformance {
namespace attention::flash {
namespace {

using Op = spec::FlashAttentionScoreGrad;
using Field = FormulaField<Op>;
using Choices = std::vector<Choice>;

constexpr std::int64_t every_token = 0x7fffffff;

bool passes_mask(const FlashCase& c) { return c.problem.atten_mask != spec::MaskShape::absent; }
bool reads_window(const FlashCase& c) {
  const std::int64_t mode = c.problem.sparse_mode;
  return passes_mask(c) && (mode == 4 || mode == 7 || mode == 8);
}
bool reads_distances(const FlashCase& c) {
  return c.problem.pse_shift != spec::PseShape::absent && c.problem.pse_type >= 2 &&
         !c.problem.q_start_idx.empty() && !c.problem.kv_start_idx.empty();
}

/// Returns choices with a mask of any shape.
Choices with_mask() {
  Choices choices;
  for (const auto& [shape, name] : spec::spellings_of<spec::MaskShape>.entries)
    if (shape != spec::MaskShape::absent) choices.push_back(factors().choice({{"mask", name}}));
  return choices;
}

Choices masked_in(std::initializer_list<std::string_view> modes) {
  Choices choices;
  for (const std::string_view mode : modes) {
    const Choice of_mode = factors().choice({{"sparse_mode", mode}});
    for (Choice choice : with_mask()) {
      for (std::size_t f = 0; f < choice.size(); ++f)
        if (of_mode[f] != undecided) choice[f] = of_mode[f];
      choices.push_back(std::move(choice));
    }
  }
  return choices;
}

Choices with_starts() {
  Choices choices;
  for (const std::string_view type : {"2", "3"})
    choices.push_back(factors().choice({{"pse_type", type}, {"start", "key_ahead"}}));
  return choices;
}

std::vector<Field> fields_of_scalars() {
  return {
      {"scale_value",
       [](const FlashCase&) { return true; },
       [](Op::Problem& p) { p.scale_value = p.scale_value == 0 ? 0.5 : 1.25 * p.scale_value; },
       {factors().choice({})}},
      {"keep_prob",
       [](const FlashCase& c) { return c.problem.has_dropout(); },
       [](Op::Problem& p) { p.keep_prob *= 0.75; },
       {factors().choice({{"dropout", "exact"}}), factors().choice({{"dropout", "granules"}})}},
      {"statistics_order",
       [](const FlashCase& c) {
         return is_packed(c.problem.input_layout) && spec::is_order_of_statistics_seen(c.problem);
       },
       [](Op::Problem& p) {
         using enum spec::StatisticsOrder;
         p.statistics_order = p.statistics_order == heads_first ? tokens_first : heads_first;
       },
       {factors().choice({{"layout", "TND"}, {"statistics", "tokens_first"}})}},
  };
}

/// The fields that describe masks. Kernels read the window only with compressed masks; other masks
/// already exclude the keys outside the window.
std::vector<Field> fields_of_masks() {
  return {
      {"sparse_mode",
       [](const FlashCase& c) {
         return passes_mask(c) && is_compressed(c.problem.atten_mask) && c.problem.sparse_mode >= 2;
       },
       [](Op::Problem& p) { p.sparse_mode = p.sparse_mode == 3 || p.sparse_mode == 8 ? 2 : 3; },
       masked_in({"2", "3", "4", "6", "7", "8"})},
      {"pre_tokens", reads_window, [](Op::Problem& p) { p.pre_tokens = every_token; },
       masked_in({"4", "7", "8"})},
      {"next_tokens", reads_window, [](Op::Problem& p) { p.next_tokens = every_token; },
       masked_in({"4", "7", "8"})},
      {"prefix", [](const FlashCase& c) { return passes_mask(c) && c.problem.sparse_mode == 6; },
       [](Op::Problem& p) { std::ranges::fill(p.prefix, 0); }, masked_in({"6"})},
  };
}

std::vector<Field> fields_of_biases() {
  Choices biased;
  for (const std::string_view type : {"0", "1", "2", "3"})
    biased.push_back(factors().choice({{"pse_type", type}}));
  return {
      {"pse_type", [](const FlashCase& c) { return c.problem.pse_shift != spec::PseShape::absent; },
       [](Op::Problem& p) { p.pse_type ^= 1; }, biased},
      {"q_start_idx", reads_distances, [](Op::Problem& p) { ++p.q_start_idx[0]; }, with_starts()},
      {"kv_start_idx", reads_distances, [](Op::Problem& p) { ++p.kv_start_idx[0]; }, with_starts()},
  };
}

}  // namespace
}  // namespace attention::flash

using Op = spec::FlashAttentionScoreGrad;

std::span<const FormulaField<Op>> Suite<Op>::formula_fields() {
  static const std::vector<FormulaField<Op>> all = [] {
    std::vector<FormulaField<Op>> fields = flash::fields_of_scalars();
    for (const auto& more : {flash::fields_of_masks(), flash::fields_of_biases()})
      fields.insert(fields.end(), more.begin(), more.end());
    return fields;
  }();
  return all;
}

bool Suite<Op>::has_other_outputs(const Op::Problem& problem, const Op::Problem& changed,
                                  const Op::Inputs& inputs) {
  using Oracle = reference::FlashAttentionScoreGrad<double>;
  const auto one = Oracle::from(problem, inputs), other = Oracle::from(changed, inputs);
  return attention::any_row(query_extents(problem),
                            [&](auto... at) {
                              const auto row = one.dq_row(at...), others = other.dq_row(at...);
                              return row.dq != others.dq || row.dq_rope != others.dq_rope;
                            }) ||
         attention::any_row(key_extents(problem), [&](auto... at) {
           const auto row = one.dkv_row(at...), others = other.dkv_row(at...);
           return row.dk != others.dk || row.dv != others.dv || row.dk_rope != others.dk_rope;
         });
}

}  // namespace assay::conformance
