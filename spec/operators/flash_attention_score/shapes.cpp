#include "operators/attention/shapes.hpp"

#include "operators/attention/attributes.hpp"
#include "operators/attention/empty_extents.hpp"
#include "operators/attention/extents.hpp"
#include "operators/attention/lengths.hpp"
#include "operators/attention/rope.hpp"
#include "operators/flash_attention_score/table.hpp"

namespace assay::spec::detail {
namespace {

using Op = ForwardOp;
using P = Op::Parameters;

bool no_rank_is_spared(const ForwardCall&, MemberOf<Op>) { return false; }
bool no_shape_is_spared(const ForwardCall&, const Parameter&) { return false; }

bool has_narrow_ropes(const ForwardCall& c) {
  const auto value = value_as_given(c);
  return !value || value->dim == 0 || c.parameters.query_rope.shape.back() <= value->dim;
}

void widen_ropes(ForwardCall& c) {
  rewrite(c, [](AttentionProblem& p) {
    p.head_dim = 32;
    p.head_dim_v = 16;
    p.head_dim_rope = 24;
  });
}

/// Returns whether the vendor's host code pads a head size. With ropes the host code refuses such
/// head sizes instead.
bool needs_padding(std::int64_t dim) { return dim % (dim < 196 || dim == 448 ? 16 : 128) != 0; }

bool has_unpadded_head_sizes(const ForwardCall& c) {
  const auto value = value_as_given(c);
  return !value || (!needs_padding(query_as_given(c)->dim) && !needs_padding(value->dim));
}

template <std::int64_t head_dim>
void set_head_sizes(ForwardCall& c) {
  rewrite(c, [](AttentionProblem& p) {
    p.head_dim = p.head_dim_v = head_dim;
    p.head_dim_rope = 8;
  });
}

bool is_l5(const ForwardCall& c) { return c.entry_point == FlashForwardEntryPoint::l5; }
bool takes_2k_lengths(const ForwardCall& c) { return !is_l5(c); }

bool is_all_empty(const ForwardCall& c) {
  const auto is_empty = [](const Parameter& p) { return p.present && element_count(p.shape) == 0; };
  return is_empty(c.parameters.softmax_max) && is_empty(c.parameters.softmax_sum) &&
         is_empty(c.parameters.attention_out);
}

}  // namespace

std::vector<ForwardRow> forward_shape_requirements() {
  using enum Standing;
  const Source dense = {dense_page, "constraints"}, varlen = {varlen_page, "constraints"},
               rope = {third_varlen_page, "constraints"}, host = {forward_tiling, "lengths"};
  const auto limit = [&](std::string_view id, ForwardPages pages, RowIds implies = {}) {
    return of_standing(
        open, on_page(id, pages.front() == FlashForwardEntryPoint::f1 ? dense : varlen, pages,
                      std::move(implies)));
  };
  const auto of_lengths = [&](Standing standing, std::string_view id, std::string_view notes = {}) {
    return of_standing(standing, on_page(id, varlen, varlen_pages), notes);
  };
  return {
      lengths_present<Op>(of_lengths(disputed, "FAS-C05", "FAS-Q5")),
      some_length<Op>(of_lengths(disputed, "FAS-C05a")),
      padded_layout<Op>(on_page("FAS-C30", dense, dense_pages)),
      packed_layout<Op>(on_page("FAS-C31", varlen, varlen_pages)),
      ranks<Op, no_rank_is_spared>(on_page("FAS-C30a", dense),
                                   {{"query", drop_axis<&P::query>},
                                    {"key", drop_axis<&P::key>},
                                    {"value", drop_axis<&P::value>},
                                    {"query_rope", drop_rope_axis<&P::query_rope>},
                                    {"key_rope", add_rope_axis<&P::key_rope>},
                                    {"attention_out", drop_axis<&P::attention_out>}}),
      one_batch_size<Op>(worded(on_page("FAS-C32", dense),
                                "query, key and value have the same batch size; in TND "
                                "actualSeqQLen and actualSeqKvLen have the same number of "
                                "entries.")),
      operands_in_step<Op>(on_page("FAS-C32a", dense)),
      one_head_size<Op>(on_page("FAS-C33", dense)),
      narrow_value<Op>(on_page("FAS-C33a", dense, {}, {"FAS-C41"})),
      grouped_heads<Op>(on_page("FAS-C35", dense, first_pages)),
      heads_limit<Op>(limit("FAS-C35a", every_forward)), head_num<Op>(on_page("FAS-C36", dense)),
      some_heads<Op>(limit("FAS-C36a", every_forward, {"FAS-C35", "FAS-C36"})),
      wide_head_size_limit<Op, always<Op>>(
          worded(on_page("FAS-C37", dense, {}, {"FAS-C41"}), {}, "FAS-Q9")),
      no_channels<Op>(limit("FAS-C37a", every_forward, {"FAS-C40b"})),
      batch_limit<Op>(limit("FAS-C38", dense_pages)),
      batch_limit_with_prefix<Op>(limit("FAS-C38a", dense_pages)),
      sequence_limit<Op>(limit("FAS-C38b", dense_pages)),
      token_limit<Op>(limit("FAS-C38c", varlen_pages)),
      number_of_lengths<Op, takes_2k_lengths>(limit("FAS-C38d", pages_of_2k_lengths)),
      number_of_lengths<Op, is_l5, 20000>(
          worded(limit("SNKF-C38", page_of_l5), "There are at most 20000 sequences.")),
      // The documentation page of entry point l3 states this requirement, too. On l3 a prefix needs
      // sparse mode 6, about which the pages disagree (requirement FAS-C61c).
      number_of_lengths_with_prefix<Op>(limit("FAS-C38e", varlen_pages_with_pse)),
      no_batch<Op>(limit("FAS-C38f", dense_pages)), no_sequence<Op>(limit("FAS-C38g", dense_pages)),
      no_tokens<Op>(limit("FAS-C38h", varlen_pages, {"FAS-C68d"})),
      head_size_steps<Op>(on_page("FAS-C40", rope, pages_with_ropes, {"FAS-C40b", "FAS-C41"})),
      rope_shapes<Op>(of_standing(derived, on_page("FAS-C40a", rope))),
      demanded<Op, has_ropes<Op>, has_narrow_ropes, widen_ropes>(
          worded(on_page("FAS-C40b", rope, pages_with_ropes),
                 "The head size of queryRope is at most the head size of value."),
          {"rope"}),
      demanded<Op, has_ropes<Op>, has_unpadded_head_sizes, set_head_sizes<8>, set_head_sizes<320>>(
          of_standing(disputed,
                      worded(in_host_code("FAS-C41", "head size"),
                             "With ropes the head sizes of query and value are multiples of 16, "
                             "and head sizes of 196 or more (except 448) are multiples of 128; the "
                             "page requires multiples of 8."),
                      "FAS-Q8"),
          {"head_dim_8", "head_dim_320"}),
      attention_shape<Op, &P::attention_out>(
          of_standing(derived, on_page("FAS-C42", {dense_page, "parameters"}), "FAS-Q11")),
      attention_like_query<Op, &P::attention_out>(
          of_standing(disputed, on_page("FAS-C42a", {dense_page, "parameters"}), "FAS-Q11")),
      statistics_shape<Op, is_packed<Op>, no_shape_is_spared>(
          on_page("FAS-C43", {dense_page, "parameters"})),
      statistics_shape_of_table<Op, is_packed<Op>>(
          of_standing(disputed, on_page("FAS-C43a", {varlen_page, "parameters"}), "FAS-Q1")),
      untried(of_standing(disputed,
                          worded(on_page("FAS-C43b", {varlen_page, "parameters"}),
                                 "In TND softmaxMax and softmaxSum are written sequence by "
                                 "sequence, heads before tokens (heads_first), or as the shape "
                                 "[T,N,8] says (tokens_first). Either order is right: a kernel "
                                 "declares its order with the numerics statistics_order."),
                          "FAS-Q1"),
              Side::content, is_packed),
      packed_tokens<Op>(of_lengths(page, "FAS-C68a", "FAS-Q5")),
      sums_within_tokens<Op>(of_lengths(derived, "FAS-C68b")),
      abandoned_tokens<Op>(of_lengths(open, "FAS-C68c")),
      empty_key_lengths<Op>(of_lengths(open, "FAS-C68d")),
      ascending_sums<Op>(
          of_standing(disputed, worded<Op>({.id = "FAS-C68e", .source = host},
                                           "The cumulative lengths do not decrease; the host code "
                                           "treats a decrease as length 0."))),
      empty_lengths<Op>(of_lengths(page, "FAS-C68f")),
      trailing_nothing<Op>(in_host_code("FAS-C68g", "lengths")),
      untried(worded(in_host_code("FAS-C74", "empty outputs"),
                     "If all three outputs are empty, phase 1 succeeds and workspaceSize is 0."),
              Side::none, is_all_empty,
              "the pages forbid such calls: the requirements on the smallest extents cover them"),
      untried(worded(in_host_code("FAS-C74a", "empty keys"),
                     "If there are queries but no keys, all outputs are 0."),
              Side::content, [](const ForwardCall& c) {
                return has_key_extents(c) && has_empty_length(*key_as_given(c));
              })};
}

}  // namespace assay::spec::detail
