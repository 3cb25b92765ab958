#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "operators/compression/table.hpp"

/// Requirements that are on the documentation pages of both NsaCompress and its gradient. Each
/// function takes the wording of one page. It adds the condition to check, and the changes of a
/// call that violate it.
namespace assay::spec::nsa {

using Attributes = CompressionAttributes;

/// Changes weight together with its gradient, if there is one.
template <std::size_t axis, class Op>
void grow_weights(Call<Op>& call) {
  grow(call.parameters.weight, axis);
  if constexpr (requires { call.parameters.weight_grad; }) grow(call.parameters.weight_grad, axis);
}

template <class Op>
Requirement<Op> shaped_as_weights(Requirement<Op> row) {
  row.statement = "weight has the shape (compressBlockSize, N).";
  row.applies = ranks_fit<Op>;
  row.holds = [](const Call<Op>& c) {
    return !ranks_fit(c) || c.parameters.weight.shape == Shape{c.attributes.compress_block_size,
                                                               c.parameters.input.shape[1]};
  };
  row.violations = {{"window", grow_weights<0, Op>}, {"heads", grow_weights<1, Op>}};
  return row;
}

/// Requires that `member` has one row per window, and as many heads (N) and channels (D) as input.
template <class Op, Member<Op> member>
Requirement<Op> shaped_as_windows(Requirement<Op> row) {
  row.applies = [](const Call<Op>& c) { return windows_as_given(c).has_value(); };
  row.holds = [](const Call<Op>& c) {
    const auto windows = windows_as_given(c);
    const Shape& input = c.parameters.input.shape;
    return !windows || (c.parameters.*member).shape == Shape{*windows, input[1], input[2]};
  };
  row.violations = {{"window_more", grow_one<Op, member, 0>},
                    {"window_less",
                     [](Call<Op>& c) {
                       Parameter& rows = c.parameters.*member;
                       if (given(rows) && rows.shape[0] > 1) grow(rows, 0, -1);
                     }},
                    {"heads", grow_one<Op, member, 1>},
                    {"head_dim", grow_one<Op, member, 2>}};
  return row;
}

/// Requires that no tensor is empty: at least one head, channel and window.
template <class Op, Member<Op>... members>
Requirement<Op> with_elements(Tensors<Op, members...> tensors, Requirement<Op> row) {
  row.violations = {{"no_heads", rewrite_with<&CompressionProblem::heads, 0, Op>},
                    {"no_head_dim", rewrite_with<&CompressionProblem::head_dim, 0, Op>},
                    {"no_window", [](Call<Op>& c) {
                       rewrite(c, [](CompressionProblem& p) { p.seq = p.compress_block_size - 1; });
                     }}};
  return not_empty(tensors, std::move(row));
}

template <class Op>
Requirement<Op> layout_is_tnd(Requirement<Op> row) {
  row.statement = "layout is exactly TND.";
  row.applies = [](const Call<Op>& c) { return c.attributes.layout.has_value(); };
  row.holds = [](const Call<Op>& c) { return c.attributes.layout.value_or("TND") == "TND"; };
  row.violations = {{"lower_case", [](Call<Op>& c) { c.attributes.layout = "tnd"; }},
                    {"bsnd", [](Call<Op>& c) { c.attributes.layout = "BSND"; }},
                    {"empty", [](Call<Op>& c) { c.attributes.layout = ""; }}};
  return row;
}

template <class Op>
Requirement<Op> layout_given(Requirement<Op> row) {
  row.statement = "layout is not null; the documents do not say whether a null pointer means TND.";
  row.standing = Standing::disputed;
  row.sides = {Side::reject};
  row.holds = [](const Call<Op>& c) { return c.attributes.layout.has_value(); };
  row.violations = {{"layout", [](Call<Op>& c) { c.attributes.layout.reset(); }}};
  return row;
}

template <class Op, std::int64_t Attributes::*size>
Requirement<Op> multiple_of_16(Requirement<Op> row) {
  row.holds = [](const Call<Op>& c) { return c.attributes.*size % 16 == 0; };
  if constexpr (size == &Attributes::compress_stride) {
    row.statement = "compressStride is a multiple of 16.";
    row.violations = {{"8", make_windows<32, 8, Op>}, {"24", make_windows<48, 24, Op>}};
  } else {
    row.statement = "compressBlockSize is a multiple of 16.";
    row.violations = {{"24", make_windows<24, 16, Op>}, {"40", make_windows<40, 16, Op>}};
  }
  return row;
}

/// Requires a compressStride above 0.
template <class Op>
Requirement<Op> positive_stride(Requirement<Op> row) {
  row.holds = [](const Call<Op>& c) { return c.attributes.compress_stride > 0; };
  row.violations = {{"zero", set<&Attributes::compress_stride, 0, Op>},
                    {"negative", set<&Attributes::compress_stride, -16, Op>}};
  return row;
}

/// Requires windows without gaps: compressBlockSize is at least compressStride. The change
/// `negative` also breaks the requirement about the shape of weight, because weight cannot have a
/// negative number of rows.
template <class Op>
Requirement<Op> no_gaps(Requirement<Op> row) {
  row.statement = "compressBlockSize is not below compressStride.";
  row.holds = [](const Call<Op>& c) {
    return c.attributes.compress_block_size >= c.attributes.compress_stride;
  };
  row.violations = {{"gaps", make_windows<16, 32, Op>},
                    {"zero", set<&Attributes::compress_block_size, 0, Op>},
                    {"negative", set<&Attributes::compress_block_size, -32, Op>}};
  return row;
}

/// Passes the lengths of the sequences instead of their cumulative lengths.
template <class Op>
void pass_lengths(Call<Op>& call) {
  call.attributes.act_seq_len_type = 1;
  if (!has_sums(call) || !is_ascending(call.parameters.act_seq_len)) return;
  std::int64_t before = 0;
  for (std::int64_t& entry : *call.parameters.act_seq_len) entry -= std::exchange(before, entry);
}

template <class Op>
Requirement<Op> ascending_sums(Requirement<Op> row) {
  row.statement =
      "The cumulative lengths are at least 0 and never decrease; two equal entries, or a leading "
      "0, mean an empty sequence.";
  row.applies = has_sums<Op>;
  row.holds = [](const Call<Op>& c) { return !has_sums(c) || is_ascending(sums_of(c)); };
  row.violations = {{"falling",
                     [](Call<Op>& c) {
                       if (!has_sums(c)) return;
                       auto& sums = *c.parameters.act_seq_len;
                       sums.insert(sums.end() - 1, sums.back() + 1);
                     }},
                    {"negative", [](Call<Op>& c) {
                       if (!has_sums(c)) return;
                       auto& sums = *c.parameters.act_seq_len;
                       sums.insert(sums.begin(), -1);
                     }}};
  return row;
}

/// Requires that actSeqLen is present and contains at least one number. Its numbers are the
/// cumulative lengths of the sequences.
template <class Op>
Requirement<Op> sums_given(Requirement<Op> row) {
  row.holds = has_sums<Op>;
  row.violations = {{"null", [](Call<Op>& c) { c.parameters.act_seq_len.reset(); }},
                    {"empty", [](Call<Op>& c) { c.parameters.act_seq_len.emplace(); }}};
  return row;
}

template <class Op>
Requirement<Op> sums_of_all_tokens(Requirement<Op> row) {
  row.statement = "The last cumulative length is the number of tokens of input.";
  row.applies = [](const Call<Op>& c) { return ranks_fit(c) && is_ascending(sums_of(c)); };
  row.holds = [](const Call<Op>& c) {
    const Sums sums = sums_of(c);
    return !ranks_fit(c) || !is_ascending(sums) || sums->back() == c.parameters.input.shape[0];
  };
  row.violations = {{"less",
                     [](Call<Op>& c) {
                       if (!has_sums(c)) return;
                       auto& sums = *c.parameters.act_seq_len;
                       const std::int64_t last = sums.back() - 1;
                       for (std::int64_t& sum : sums) sum = std::min(sum, last);
                     }},
                    {"more", [](Call<Op>& c) {
                       if (has_sums(c)) ++c.parameters.act_seq_len->back();
                     }}};
  return row;
}

}  // namespace assay::spec::nsa
