#pragma once

#include "operators/attention/changes.hpp"

namespace assay::spec::detail {

inline constexpr std::int64_t first_mode = 0, last_mode = 8;

template <class Op>
bool mode_is_known(const Call<Op>& c) {
  return c.attributes.sparse_mode >= first_mode && c.attributes.sparse_mode <= last_mode;
}

template <class Op>
bool has_mask_of_known_extents(const Call<Op>& c) {
  return given(c.parameters.atten_mask) && value_as_given(c);
}

/// Returns whether all sequences have equal numbers of queries, and equal numbers of keys.
template <class Op>
bool has_sequences_of_one_length(const Call<Op>& c) {
  for (const Extents& extents : {*query_as_given(c), *key_as_given(c)})
    for (std::int64_t b = 0; b < extents.batch; ++b)
      if (extents.length(b) != extents.seq) return false;
  return true;
}

/// Passes a compressed mask in sparse mode 3 with too many slices: more than there are sequences.
template <class Op>
void add_compressed_slice(Call<Op>& call) {
  const auto problem = problem_of(call);
  if (!problem) return;
  attach_mask(call, 3, {});
  const auto query = query_as_given(call);
  if (query)
    reshape(call.parameters.atten_mask,
            {query->batch + 1, 1, compressed_mask_edge, compressed_mask_edge});
}

template <class Op>
bool mask_fits_mode(const Call<Op>& c) {
  return !has_mask_of_known_extents(c) || !mode_is_known(c) || mask_form_of(c);
}

/// Passes a full mask in sparse mode 1, with one axis that is too long.
template <std::size_t axis, class Op>
void grow_mask(Call<Op>& call) {
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
template <class Op>
void drop_mask_axis(Call<Op>& call) {
  if (const auto problem = problem_of(call))
    attach_mask(call, 1, {problem->batch, problem->seq_q, problem->seq_kv});
}

/// Passes a well-formed mask in a sparse mode that the entry point does not accept.
template <class Op>
void enter_mode(Call<Op>& call, std::int64_t sparse_mode) {
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

template <class Op>
Requirement<Op> mode_range(const Stated<Op>& by) {
  return stated<Op>(
      by, {.statement = "sparseMode is one of 0 to 8.",
           .holds =
               [](const Call<Op>& c) {
                 return c.attributes.sparse_mode >= first_mode &&
                        c.attributes.sparse_mode <= last_mode;
               },
           .violations = {{"negative", [](Call<Op>& c) { c.attributes.sparse_mode = -1; }},
                          {"nine", [](Call<Op>& c) { c.attributes.sparse_mode = 9; }}}});
}

template <class Op>
Requirement<Op> padded_modes(const Stated<Op>& by) {
  return stated<Op>(
      by,
      {.statement = "Sparse modes 7 and 8 are for packed sequences, not for the padded layouts.",
       .applies = is_padded,
       .holds =
           [](const Call<Op>& c) {
             return is_packed(c) ||
                    (c.attributes.sparse_mode != 7 && c.attributes.sparse_mode != 8);
           },
       .violations = {{"seven",
                       [](Call<Op>& c) {
                         if (is_padded(c)) enter_mode(c, 7);
                       }},
                      {"eight", [](Call<Op>& c) {
                         if (is_padded(c)) enter_mode(c, 8);
                       }}}});
}

template <class Op>
Requirement<Op> no_prefix_modes(const Stated<Op>& by) {
  return stated<Op>(by, {.statement = "sparseMode is neither 5 nor 6.",
                         .applies = takes_ropes,
                         .holds =
                             [](const Call<Op>& c) {
                               return !takes_ropes(c) || (c.attributes.sparse_mode != 5 &&
                                                          c.attributes.sparse_mode != 6);
                             },
                         .violations = {{"five",
                                         [](Call<Op>& c) {
                                           if (takes_ropes(c)) enter_mode(c, 5);
                                         }},
                                        {"six", [](Call<Op>& c) {
                                           if (takes_ropes(c)) enter_mode(c, 6);
                                         }}}});
}

template <class Op, auto on>
Requirement<Op> no_full_prefix_mode(const Stated<Op>& by) {
  return stated<Op>(
      by, {.statement = "sparseMode is not 5.",
           .applies = on,
           .holds = [](const Call<Op>& c) { return !on(c) || c.attributes.sparse_mode != 5; },
           .violations = {{"five", [](Call<Op>& c) {
                             if (on(c)) enter_mode(c, 5);
                           }}}});
}

/// Returns whether the sparse mode reads a user mask with one element per score.
template <class Op>
bool reads_own_mask(const Call<Op>& c) {
  const std::int64_t mode = c.attributes.sparse_mode;
  return mode == 0 || mode == 1 || mode == 5;
}

template <class Op>
Requirement<Op> mask_shapes(const Stated<Op>& by) {
  static constexpr auto concerned = [](const Call<Op>& c) {
    return has_mask_of_known_extents(c) && reads_own_mask(c);
  };
  return stated<Op>(
      by, {.statement =
               "In sparse modes 0, 1 and 5 attenMask is [Sq,Skv], [1,1,Sq,Skv], [B,1,Sq,Skv] or "
               "[B,N,Sq,Skv]; for packed sequences Sq and Skv are the longest lengths.",
           .applies = concerned,
           .holds = [](const Call<Op>& c) { return !concerned(c) || mask_fits_mode(c); },
           .violations = {{"batch", grow_mask<0>},
                          {"heads", grow_mask<1>},
                          {"rows", grow_mask<2>},
                          {"columns", grow_mask<3>},
                          {"rank", drop_mask_axis}}});
}

template <class Op>
Requirement<Op> compressed_mask_shapes(const Stated<Op>& by) {
  static constexpr auto concerned = [](const Call<Op>& c) {
    return has_mask_of_known_extents(c) && mode_is_known(c) && !reads_own_mask(c);
  };
  return stated<Op>(
      by,
      {.statement =
           "The last two axes of attenMask are 3072 x 2048 in sparse mode 6, and 2048 x 2048 in "
           "modes 2, 3, 4, 7 and 8. The axes before these two are absent, 1 x 1, B x 1 or B "
           "x N.",
       .applies = concerned,
       .holds = [](const Call<Op>& c) { return !concerned(c) || mask_fits_mode(c); },
       .violations = {{"left_up_edge",
                       [](Call<Op>& c) {
                         attach_mask(c, 2, {2048, 2047});
                       }},
                      {"right_down_edge",
                       [](Call<Op>& c) {
                         attach_mask(c, 3, {1024, 1024});
                       }},
                      {"compressed_slices", add_compressed_slice},
                      {"prefix_rows", [](Call<Op>& c) {
                         if (takes_ropes(c)) return;
                         attach_prefix(c);
                         if (masked_in_mode(c, 6)) reshape(c.parameters.atten_mask, {2048, 2048});
                       }}}});
}

/// Returns whether packed sequences of unequal lengths have a mask with a batch or head axis. The
/// documentation pages list these shapes, but the vendor's kernels read the mask as a packed
/// buffer. If all sequences have equal lengths, both interpretations are the same.
template <class Op>
bool is_mask_per_sequence(const Call<Op>& c) {
  if (!is_packed(c) || !has_mask_of_known_extents(c) || !mode_is_known(c)) return false;
  const auto form = mask_form_of(c);
  return (form == MaskShape::b_one_ss || form == MaskShape::bnss) &&
         !has_sequences_of_one_length(c);
}

template <class Op>
Requirement<Op> packed_masks(const Stated<Op>& by) {
  return stated<Op>(
      by,
      {.statement =
           "If the lengths of packed sequences differ, attenMask may be [B,1,S,S] or [B,N,S,S].",
       .sides = {Side::accept},
       .applies = is_mask_per_sequence});
}

template <class Op>
Requirement<Op> mask_inside_window(const Stated<Op>& by) {
  return stated<Op>(
      by,
      {.statement = "In sparse modes 0 and 4 every pair that attenMask keeps is inside the window.",
       .sides = {Side::content},
       .applies = [](const Call<Op>& c) { return masked_in_mode(c, 0) || masked_in_mode(c, 4); },
       .reason = content_reason});
}

}  // namespace assay::spec::detail
