#include <algorithm>

#include "operators/flash_attention_score_grad/table.hpp"

namespace assay::spec::detail {
namespace {

constexpr std::int64_t first_mode = 0, last_mode = 8;

bool mode_is_known(const FlashCall& c) {
  return c.attributes.sparse_mode >= first_mode && c.attributes.sparse_mode <= last_mode;
}

bool has_mask_of_known_extents(const FlashCall& c) {
  return given(c.parameters.atten_mask) && value_as_given(c);
}

/// Returns whether all sequences have equal numbers of queries, and equal numbers of keys.
bool has_sequences_of_one_length(const FlashCall& c) {
  for (const Extents& extents : {*query_as_given(c), *key_as_given(c)})
    for (std::int64_t b = 0; b < extents.batch; ++b)
      if (extents.length(b) != extents.seq) return false;
  return true;
}

/// Passes a compressed mask in sparse mode 3, with more slices than there are sequences.
void add_compressed_slice(FlashCall& call) {
  const auto problem = problem_of(call);
  if (!problem) return;
  attach_mask(call, 3, {});
  const auto query = query_as_given(call);
  if (query)
    reshape(call.parameters.atten_mask,
            {query->batch + 1, 1, compressed_mask_edge, compressed_mask_edge});
}

bool mask_fits_mode(const FlashCall& c) {
  return !has_mask_of_known_extents(c) || !mode_is_known(c) || mask_form_of(c);
}

/// Passes a full mask in sparse mode 1, with one axis that is too long.
template <std::size_t axis>
void grow_mask(FlashCall& call) {
  const auto problem = problem_of(call);
  if (!problem) return;
  Shape shape = {problem->batch, problem->heads_q, problem->seq_q, problem->seq_kv};
  attach_mask(call, 1, shape);
  const auto plain = query_as_given(call);
  const auto key = key_as_given(call);
  if (!plain || !key) return;
  shape = {plain->batch, plain->heads, plain->seq, key->seq};
  ++shape[axis];
  reshape(call.parameters.atten_mask, shape);
}

/// Passes a mask in sparse mode 1, with a batch axis but without a head axis.
void drop_mask_axis(FlashCall& call) {
  if (const auto problem = problem_of(call))
    attach_mask(call, 1, {problem->batch, problem->seq_q, problem->seq_kv});
}

/// Passes a well-formed mask of a mode that the entry point does not accept.
void enter_mode(FlashCall& call, std::int64_t sparse_mode) {
  if (!problem_of(call)) return;
  rewrite(call, make_square);
  const auto problem = problem_of(call);
  if (!problem) return;
  if (sparse_mode == 5) {
    put_mask(call, 5, {problem->seq_q, problem->seq_kv});
  } else {
    put_compressed_mask(call, sparse_mode);
  }
  if (sparse_mode == 5 || sparse_mode == 6) put_prefix(call);
}

FlashRequirement mode_range() {
  return {.id = "FAG-C63",
          .statement = "sparseMode is one of 0 to 8.",
          .source = {unpadding_page, "parameters"},
          .standing = Standing::documented,
          .stated_for = u_pages,
          .page_for = public_pages,
          .sides = {Side::accept, Side::reject},
          .notes = "FAG-Q11",
          .applies = always,
          .holds =
              [](const FlashCall& c) {
                return c.attributes.sparse_mode >= first_mode &&
                       c.attributes.sparse_mode <= last_mode;
              },
          .violations = {{"negative", [](FlashCall& c) { c.attributes.sparse_mode = -1; }},
                         {"nine", [](FlashCall& c) { c.attributes.sparse_mode = 9; }}}};
}

/// The pages of the padded entry points list modes 0 to 8; the mode page and the host code exclude
/// modes 7 and 8.
FlashRequirement padded_modes() {
  return {.id = "FAG-C64",
          .statement = "Sparse modes 7 and 8 are for packed sequences, not for the padded layouts.",
          .source = {upstream_modes, "modes 7 and 8"},
          .standing = Standing::upstream,
          .sides = {Side::accept, Side::reject},
          .notes = "FAG-Q15",
          .applies = is_padded,
          .holds =
              [](const FlashCall& c) {
                return is_packed(c) ||
                       (c.attributes.sparse_mode != 7 && c.attributes.sparse_mode != 8);
              },
          .violations = {{"seven",
                          [](FlashCall& c) {
                            if (is_padded(c)) enter_mode(c, 7);
                          }},
                         {"eight", [](FlashCall& c) {
                            if (is_padded(c)) enter_mode(c, 8);
                          }}}};
}

/// The same page describes mode 6 in one of its list items.
FlashRequirement no_prefix_modes() {
  return {.id = "FAG-C65",
          .statement = "sparseMode is neither 5 nor 6.",
          .source = {rope_page, "parameters"},
          .standing = Standing::documented,
          .stated_for = u3_page,
          .sides = {Side::accept, Side::reject},
          .notes = "FAG-Q6",
          .applies = is_u3,
          .holds =
              [](const FlashCall& c) {
                return !is_u3(c) ||
                       (c.attributes.sparse_mode != 5 && c.attributes.sparse_mode != 6);
              },
          .violations = {{"five",
                          [](FlashCall& c) {
                            if (is_u3(c)) enter_mode(c, 5);
                          }},
                         {"six", [](FlashCall& c) {
                            if (is_u3(c)) enter_mode(c, 6);
                          }}}};
}

/// FAG-C65 covers u3; FAG-C66a covers u2 and u4.
FlashRequirement full_prefix_mode() {
  return {
      .id = "FAG-C66",
      .statement =
          "sparseMode is not 5: the page lists 0 to 8, and says that a prefix is only for mode 6.",
      .source = {unpadding_page, "constraints"},
      .standing = Standing::disputed,
      .sides = {Side::reject},
      .notes = "CV-O5",
      .applies = is_u1,
      .holds = [](const FlashCall& c) { return !is_u1(c) || c.attributes.sparse_mode != 5; },
      .violations = {{"five", [](FlashCall& c) {
                        if (is_u1(c)) enter_mode(c, 5);
                      }}}};
}

FlashRequirement no_full_prefix_mode() {
  return {
      .id = "FAG-C66a",
      .statement = "sparseMode is not 5.",
      .source = {upstream_second_unpadding_page, "sparseMode"},
      .standing = Standing::page,
      .page_for = public_pages,
      .sides = {Side::accept, Side::reject},
      .notes = "CV-O5",
      .applies = is_of_public_page,
      .holds =
          [](const FlashCall& c) { return !is_of_public_page(c) || c.attributes.sparse_mode != 5; },
      .violations = {{"five", [](FlashCall& c) {
                        if (is_of_public_page(c)) enter_mode(c, 5);
                      }}}};
}

/// Returns whether the mode reads a user mask with one element per score.
bool reads_own_mask(const FlashCall& c) {
  const std::int64_t mode = c.attributes.sparse_mode;
  return mode == 0 || mode == 1 || mode == 5;
}

FlashRequirement mask_shapes() {
  static constexpr auto concerned = [](const FlashCall& c) {
    return has_mask_of_known_extents(c) && reads_own_mask(c);
  };
  return {.id = "FAG-C67",
          .statement =
              "In sparse modes 0, 1 and 5 attenMask is [Sq,Skv], [1,1,Sq,Skv], [B,1,Sq,Skv] or "
              "[B,N,Sq,Skv]; for packed sequences Sq and Skv are the longest lengths.",
          .source = {unpadding_page, "parameters"},
          .standing = Standing::documented,
          .stated_for = u_pages,
          .page_for = public_pages,
          .sides = {Side::accept, Side::reject},
          .applies = concerned,
          .holds = [](const FlashCall& c) { return !concerned(c) || mask_fits_mode(c); },
          .violations = {{"batch", grow_mask<0>},
                         {"heads", grow_mask<1>},
                         {"rows", grow_mask<2>},
                         {"columns", grow_mask<3>},
                         {"rank", drop_mask_axis}}};
}

/// The pages of g1, g2, u1 and u3 list only the leading axes.
FlashRequirement compressed_mask_shapes() {
  static constexpr auto concerned = [](const FlashCall& c) {
    return has_mask_of_known_extents(c) && mode_is_known(c) && !reads_own_mask(c);
  };
  return {.id = "FAG-C67b",
          .statement =
              "The last two axes of attenMask are 3072 x 2048 in sparse mode 6, and 2048 x 2048 in "
              "modes 2, 3, 4, 7 and 8. The axes before these two are absent, 1 x 1, B x 1 or B "
              "x N.",
          .source = {upstream_modes, "compressed masks"},
          .standing = Standing::upstream,
          .sides = {Side::accept, Side::reject},
          .applies = concerned,
          .holds = [](const FlashCall& c) { return !concerned(c) || mask_fits_mode(c); },
          .violations = {{"left_up_edge",
                          [](FlashCall& c) {
                            attach_mask(c, 2, {2048, 2047});
                          }},
                         {"right_down_edge",
                          [](FlashCall& c) {
                            attach_mask(c, 3, {1024, 1024});
                          }},
                         {"compressed_slices", add_compressed_slice},
                         {"prefix_rows", [](FlashCall& c) {
                            if (is_u3(c)) return;
                            attach_prefix(c);
                            if (masked_in_mode(c, 6))
                              reshape(c.parameters.atten_mask, {2048, 2048});
                          }}}};
}

/// The pages list these shapes. The vendor's kernels read such a mask as a packed buffer. If all
/// sequences have equal lengths, both have the same meaning.
FlashRequirement packed_masks() {
  return {.id = "FAG-C67a",
          .statement =
              "If the lengths of packed sequences differ, attenMask may be [B,1,S,S] or [B,N,S,S].",
          .source = {unpadding_page, "parameters"},
          .standing = Standing::documented,
          .stated_for = u_pages,
          .page_for = public_pages,
          .sides = {Side::accept},
          .notes = "FAG-Q16, CV-O2",
          .applies =
              [](const FlashCall& c) {
                if (!is_packed(c) || !has_mask_of_known_extents(c) || !mode_is_known(c))
                  return false;
                const auto form = mask_form_of(c);
                return (form == MaskShape::b_one_ss || form == MaskShape::bnss) &&
                       !has_sequences_of_one_length(c);
              },
          .holds = always};
}

FlashRequirement mask_inside_window() {
  return {
      .id = "FAG-C70",
      .statement = "In sparse modes 0 and 4 every pair that attenMask keeps is inside the window.",
      .source = {unpadding_page, "constraints"},
      .standing = Standing::documented,
      .stated_for = u_pages,
      .sides = {Side::content},
      .notes = "CV-O6",
      .applies = [](const FlashCall& c) { return masked_in_mode(c, 0) || masked_in_mode(c, 4); },
      .holds = always,
      .reason = content_reason};
}

}  // namespace

std::vector<FlashRequirement> mask_requirements() {
  return {mode_range(),       padded_modes(),           no_prefix_modes(),
          full_prefix_mode(), no_full_prefix_mode(),    mask_shapes(),
          packed_masks(),     compressed_mask_shapes(), mask_inside_window()};
}

}  // namespace assay::spec::detail
