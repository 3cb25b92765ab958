#include <algorithm>
#include <array>

#include "operators/attention/attributes.hpp"
#include "operators/attention/interface.hpp"
#include "operators/attention/mask.hpp"
#include "operators/attention/position.hpp"
#include "operators/attention/prefix.hpp"
#include "operators/attention/presence.hpp"
#include "operators/attention/split.hpp"
#include "operators/attention/window.hpp"
#include "operators/flash_attention_score/table.hpp"

namespace assay::spec::detail {
namespace {

using Op = ForwardOp;

bool has_one_mask(const ForwardCall& c) { return !is_mask_per_sequence(c); }

/// Passes a mask with a batch axis for two sequences of unequal lengths.
void pass_mask_per_sequence(ForwardCall& c) {
  rewrite(c, [](AttentionProblem& p) {
    make_uniform(p);
    p.batch = 2;
    p.lengths_kv = {p.seq_kv + 1, p.seq_kv};
    ++p.seq_kv;
  });
  if (const auto problem = problem_of(c)) put_mask(c, 1, {2, 1, problem->seq_q, problem->seq_kv});
}

ForwardRow prefix_mask_per_batch() {
  static constexpr auto concerned = [](const ForwardCall& c) {
    return is_padded(c) && masked_in_mode(c, 5) && value_as_given(c);
  };
  return stated<Op>(
      in_host_code("FAS-C44c", "mask checks"),
      {.statement = "In sparse mode 5 attenMask has a batch axis if there are several batches.",
       .applies = concerned,
       .holds =
           [](const ForwardCall& c) {
             const Shape& shape = c.parameters.atten_mask.shape;
             return !concerned(c) || query_as_given(c)->batch == 1 || !mask_form_of(c) ||
                    (shape.size() == 4 && shape[0] != 1);
           },
       .violations = {{"one_mask", [](ForwardCall& c) {
                         if (is_packed(c)) return;
                         rewrite(c, [](AttentionProblem& p) {
                           make_uniform(p);
                           p.batch = 2;
                         });
                         if (const auto problem = problem_of(c))
                           put_mask(c, 5, {problem->seq_q, problem->seq_kv});
                         put_prefix(c);
                       }}}});
}

bool takes_bias_of_sequences(const ForwardCall& c) { return is_packed(c) && !takes_ropes(c); }

bool has_no_bias_of_keys(const ForwardCall& c) {
  return !is_packed_pse_of(c, {PseShape::packed_bn1s});
}

void pass_bias_of_keys(ForwardCall& c) { replace_packed_pse(c, PseShape::packed_bn1s); }

bool may_have_last_rows(const ForwardCall& c) {
  const std::int64_t mode = c.attributes.sparse_mode;
  if (!mode_is_known(c)) return true;
  return has_equal_lengths(c) && query_as_given(c)->seq >= compressed_pse_rows &&
         (mode == 0 || mode == 2 || mode == 3) && is_causal(c);
}

bool takes_square_slopes(const ForwardCall& c) {
  return takes_slopes(c) && c.entry_point != FlashForwardEntryPoint::l5;
}

bool has_pse_type_1(const ForwardCall& c) { return pse_type_of(c) == 1; }

template <std::int64_t pse_type>
void set_any_pse_type(ForwardCall& c) {
  c.attributes.pse_type = pse_type;
}

bool is_not_in_mode_6(const ForwardCall& c) { return c.attributes.sparse_mode != 6; }
void enter_mode_6(ForwardCall& c) { enter_mode(c, 6); }

ForwardRow enough_keys() {
  return stated<Op>(
      on_page("FAS-C65", {varlen_page, "constraints"}, varlen_pages),
      {.statement = "In sparse mode 3 no sequence of TND has more queries than keys.",
       .applies = [](const ForwardCall& c) { return is_packed(c) && masked_in_mode(c, 3); },
       .holds =
           [](const ForwardCall& c) {
             return is_padded(c) ||
                    std::ranges::none_of(windows_in_mode(c, 3), [](const Window& w) {
                      return !w.is_empty() && w.seq_q > w.seq_kv;
                    });
           },
       .violations = {{"queries", [](ForwardCall& c) {
                         if (!is_packed(c)) return;
                         rewrite(c, [](AttentionProblem& p) {
                           make_square(p);
                           ++p.seq_q;
                         });
                         put_compressed_mask(c, 3);
                       }}}});
}

bool reads_window(const ForwardCall& c) {
  const std::int64_t mode = c.attributes.sparse_mode;
  return given(c.parameters.atten_mask) && (mode == 0 || mode == 4 || mode == 7 || mode == 8);
}

ForwardRow some_window() {
  return stated<Op>(
      on_page("FAS-C69", {dense_page, "constraints"}, {}, {"FAS-C69a", "FAS-C69b"}),
      {.statement = "In sparse modes 0, 4, 7 and 8 the window is not empty: preTokens + nextTokens "
                    "is not negative.",
       .applies = reads_window,
       .holds =
           [](const ForwardCall& c) {
             return !reads_window(c) ||
                    !sum_is_negative(c.attributes.pre_tokens, c.attributes.next_tokens);
           },
       .violations = {{"default", [](ForwardCall& c) { confine(c, 0, -1, 0); }},
                      {"band", [](ForwardCall& c) { confine(c, 4, 0, -1); }},
                      {"split", [](ForwardCall& c) { confine_band(c, 8, 0, -1); }}}});
}

/// Returns whether the window (preTokens, nextTokens) is legal. If one of the two numbers is
/// negative, its magnitude must be smaller than the other number and smaller than both sequence
/// lengths.
bool stays_inside(const Window& w, std::int64_t pre, std::int64_t next) {
  const std::int64_t least = std::min({pre, next, std::int64_t{0}});
  return !sum_is_negative(pre, next) && (least == 0 || -least < std::min(w.seq_q, w.seq_kv));
}

/// Returns whether the vendor's host code of the forward accepts the window. In the padded layouts
/// the positions of the window are counted from the upper-left corner of the scores.
bool host_allows_forward(const ForwardCall& c, const Window& w, bool band) {
  const std::int64_t shift = w.seq_kv - w.seq_q;
  if (is_padded(c)) return stays_inside(w, w.pre - (band ? shift : 0), w.next + (band ? shift : 0));
  if (band) return w.pre >= 0 && !sum_is_negative(w.pre, w.next) && w.next >= -shift;
  return w.next >= 0 && w.pre >= -w.next && w.pre >= -shift;
}

ForwardRow windows_of_host_code() {
  return stated<Op>(
      of_standing(Standing::disputed, in_host_code("FAS-C69a", "token checks"), "FAS-Q12"),
      {.statement =
           "In sparse modes 0 and 4 preTokens and nextTokens are in the ranges of the host "
           "code, which the pages do not state.",
       .sides = {Side::reject},
       .applies = reads_window,
       .holds =
           [](const ForwardCall& c) {
             return std::ranges::all_of(std::array<std::int64_t, 2>{0, 4}, [&](std::int64_t mode) {
               return std::ranges::all_of(windows_in_mode(c, mode), [&](const Window& w) {
                 return w.is_empty() || host_allows_forward(c, w, mode == 4);
               });
             });
           },
       .violations = {
           {"next", [](ForwardCall& c) { confine(c, 0, unbounded_tokens, -beyond(c)); }},
           {"pre", [](ForwardCall& c) { confine(c, 0, -beyond(c), unbounded_tokens); }},
           {"band_next", [](ForwardCall& c) { confine(c, 4, unbounded_tokens, -beyond(c)); }},
           {"band_pre", [](ForwardCall& c) { confine(c, 4, -beyond(c), unbounded_tokens); }}}});
}

/// Sets innerPrecise if the call has no mask. In calls with a mask, innerPrecise values other than
/// 2 leave the results of fully masked rows undefined.
template <std::int64_t value>
void set_inner_precise_without_mask(ForwardCall& c) {
  if (!given(c.parameters.atten_mask)) c.attributes.inner_precise = value;
}

ForwardRow inner_precise() {
  return stated<Op>(on_page("FAS-C70", {dense_page, "parameters"}),
                    {.statement = "innerPrecise may be 0, 1 or 2; 2 defines the results of fully "
                                  "masked rows.",
                     .sides = {Side::accept},
                     .variants = {{"zero", set_inner_precise_without_mask<0>},
                                  {"one", set_inner_precise_without_mask<1>},
                                  {"two", set_inner_precise_without_mask<2>}}});
}

}  // namespace

std::vector<ForwardRow> forward_mask_requirements() {
  using enum Standing;
  const Source dense = {dense_page, "constraints"}, dense_table = {dense_page, "parameters"},
               varlen = {varlen_page, "constraints"}, varlen_table = {varlen_page, "parameters"},
               slopes = {slopes_page, "pseType"}, rope = {third_varlen_page, "constraints"};
  return {
      no_dropout<Op>(on_page("FAS-C09", rope, pages_with_ropes)),
      pse_type_without_pse<Op>(on_page("FAS-C12", slopes, pages_with_slopes)),
      mask_shapes<Op>(on_page("FAS-C44", dense_table)),
      compressed_mask_shapes<Op>(in_host_code("FAS-C44a", "mask checks", {"FAS-C65"})),
      demanded<Op, is_packed<Op>, has_one_mask, pass_mask_per_sequence>(
          of_standing(disputed,
                      worded(on_page("FAS-C44b", varlen_table),
                             "If the lengths of packed sequences differ, attenMask has no batch or "
                             "head axis: the pages list masks with these axes, but the vendor's "
                             "kernels read them in another order."),
                      "FAS-Q4"),
          {"batch_axis"}),
      prefix_mask_per_batch(),
      pse_shapes<Op>(worded(
          on_page("FAS-C45", dense_table, pages_with_pse),
          "realShift is [B,N,Sq,Skv], [B,N,1,Skv], [1,N,Sq,Skv], [B,N,1024,Skv] or [1,N,1024,Skv] "
          "in pseType 0 and 1, and [N] or [B,N] in pseType 2 and 3; for packed sequences it is "
          "also "
          "[N*sum of Sq*Skv].")),
      unlisted_pse_shapes<Op, takes_bias_of_sequences>(
          on_page("FAS-C45a", varlen_table, varlen_pages_with_pse)),
      demanded<Op, takes_bias_of_sequences, has_no_bias_of_keys, pass_bias_of_keys>(
          of_standing(open, worded(on_page("FAS-C45b", varlen_table, varlen_pages_with_pse),
                                   "realShift of packed sequences is not [N*T2].")),
          {"keys"}),
      compressed_pse_is_causal<Op, may_have_last_rows, always<Op>>(
          worded(on_page("FAS-C46", dense_table, pages_with_pse),
                 "A realShift of 1024 rows needs Sq = Skv, more than 1024 queries and a causal "
                 "mask of sparse mode 0, 2 or 3.")),
      drop_mask_size<Op>(in_host_code("FAS-C47", "dropMask checks")),
      keep_prob_range<Op>(
          worded(on_page("FAS-C60", dense_table, pages_with_keep_prob), {}, "FAS-Q6")),
      mode_range<Op>(worded(on_page("FAS-C61", dense_table), {}, "FAS-Q2")),
      padded_modes<Op>(on_page("FAS-C61a", dense_table, dense_pages)),
      no_full_prefix_mode<Op, is_packed<Op>>(on_page("FAS-C61b", varlen_table, varlen_pages)),
      demanded<Op, takes_ropes<Op>, is_not_in_mode_6, enter_mode_6>(
          of_standing(disputed,
                      worded(on_page("FAS-C61c", {third_varlen_page, "parameters"}),
                             "sparseMode is not 6: the page allows it, the host code refuses it."),
                      "FAS-Q7"),
          {"six"}),
      pse_type_range<Op>(on_page("FAS-C62", slopes, pages_with_slopes)),
      demanded<Op, takes_ropes<Op>, has_pse_type_1, set_any_pse_type<0>, set_any_pse_type<4>>(
          worded(on_page("FAS-C62a", rope, pages_with_ropes), "pseType is 1."), {"zero", "four"}),
      slopes_need_equal_lengths<Op, takes_square_slopes>(
          on_page("FAS-C63", slopes, pages_with_square_slopes)),
      prefix_per_batch<Op, true>(worded(on_page("FAS-C64", dense, pages_with_pse),
                                        "Sparse modes 5 and 6 need a prefix of one entry per "
                                        "sequence.")),
      prefix_range<Op>(on_page("FAS-C64a", dense, pages_with_pse)),
      enough_keys(),
      untried(worded(on_page("FAS-C66", varlen, varlen_pages),
                     "No row of the mask excludes every key of a packed sequence.", "FAS-Q3"),
              Side::content, is_packed,
              "phase 1 does not read the mask; the planned masks of packed sequences keep a key in "
              "every row"),
      no_pse_on_last_split<Op>(on_page("FAS-C67", varlen, varlen_pages_with_pse)),
      square_first_split<Op>(on_page("FAS-C67a", varlen, varlen_pages_with_pse)),
      no_pse_with_empty_queries<Op>(
          of_standing(disputed, on_page("FAS-C68", varlen, varlen_pages_with_pse))),
      some_window(),
      windows_of_host_code(),
      documented_outer_split<Op>(
          of_standing(disputed, on_page("FAS-C69b", {varlen_page, "sparseMode"}))),
      mask_inside_window<Op>(on_page("FAS-C69c", dense)),
      inner_precise(),
      untried(worded(on_page("FAS-C72", dense), "Repeated runs give the same bits."), Side::content,
              always, "the results of two runs are compared if a kernel declares a fixed order"),
      strided_views<Op>(on_page("FAS-C75", dense_table))};
}

}  // namespace assay::spec::detail
