#pragma once

#include <string_view>
#include <vector>

#include "operators/selection/table.hpp"

/// Requirements that are on the documentation pages of both NsaSelectedAttention and its gradient.
/// Each function takes the wording of one page. It adds the condition to check, and the changes of
/// a call that violate it.
namespace assay::spec::nsa::selection {

/// Inserts an entry before the last cumulative length: the last cumulative length plus `step`.
template <std::int64_t step>
void insert_before_last(Sums& sums) {
  if (sums && !sums->empty()) sums->insert(sums->end() - 1, sums->back() + step);
}
template <class Op>
void change_both(Call<Op>& call, void (*change)(Sums&)) {
  change(call.parameters.actual_seq_qlen);
  change(call.parameters.actual_seq_kvlen);
}

/// Builds a requirement about sizes, for calls whose tensors have the correct ranks. `reaches` has
/// the same meaning as in Requirement.
template <class Op>
Requirement<Op> limited(Requirement<Op> row, Predicate<Op> holds,
                        std::vector<Violation<Op>> violations, Predicate<Op> reaches = nullptr) {
  row.applies = ranks_fit<Op>;
  return tested(std::move(row), holds, std::move(violations), reaches);
}

template <class Op>
Requirement<Op> layout_is_tnd(Requirement<Op> row) {
  row.statement = "inputLayout is exactly TND.";
  row.applies = [](const Call<Op>& c) { return c.attributes.input_layout.has_value(); };
  row.holds = [](const Call<Op>& c) { return c.attributes.input_layout.value_or("TND") == "TND"; };
  row.violations = {{"lower_case", [](Call<Op>& c) { c.attributes.input_layout = "tnd"; }},
                    {"bsnd", [](Call<Op>& c) { c.attributes.input_layout = "BSND"; }},
                    {"empty", [](Call<Op>& c) { c.attributes.input_layout = ""; }}};
  return row;
}

template <class Op>
Requirement<Op> counts_query_heads(Requirement<Op> row) {
  row.statement = "headNum is the number of heads of query.";
  row.applies = ranks_fit<Op>;
  row.holds = [](const Call<Op>& c) {
    return !ranks_fit(c) || c.attributes.head_num == heads_q(c);
  };
  row.violations = {{"one_more", [](Call<Op>& c) { ++c.attributes.head_num; }},
                    {"zero", [](Call<Op>& c) { c.attributes.head_num = 0; }}};
  return row;
}

template <std::int64_t mode, class Op>
void set_mode(Call<Op>& call) {
  call.attributes.sparse_mode = mode;
}

template <class Op>
Requirement<Op> mode_0_or_2(Requirement<Op> row) {
  row.statement = "sparseMode is 0 or 2.";
  row.holds = [](const Call<Op>& c) {
    return c.attributes.sparse_mode == 0 || c.attributes.sparse_mode == 2;
  };
  row.violations = {{"one", set_mode<1, Op>},
                    {"three", set_mode<3, Op>},
                    {"eight", set_mode<8, Op>},
                    {"negative", set_mode<-1, Op>}};
  return row;
}

template <class Op>
Requirement<Op> equal_numbers_of_lengths(Requirement<Op> row) {
  row.statement =
      "actualSeqQLen and actualSeqKvLen have the same number of entries, one for each sequence.";
  row.applies = has_sums<Op>;
  row.holds = [](const Call<Op>& c) {
    const auto& p = c.parameters;
    return !has_sums(c) || p.actual_seq_qlen->size() == p.actual_seq_kvlen->size();
  };
  row.violations = {
      {"fewer_queries",
       [](Call<Op>& c) {
         Sums& sums = c.parameters.actual_seq_qlen;
         if (sums && sums->size() > 1) sums->erase(sums->begin());
       }},
      {"more_keys", [](Call<Op>& c) { insert_before_last<-1>(c.parameters.actual_seq_kvlen); }}};
  return row;
}

template <class Op>
Requirement<Op> lengths_not_null(Requirement<Op> row) {
  row.statement = "actualSeqQLen and actualSeqKvLen are not null.";
  row.holds = [](const Call<Op>& c) {
    return c.parameters.actual_seq_qlen && c.parameters.actual_seq_kvlen;
  };
  row.violations = {
      {"no_queries", [](Call<Op>& c) { c.parameters.actual_seq_qlen.reset(); }},
      {"no_keys", [](Call<Op>& c) { c.parameters.actual_seq_kvlen.reset(); }},
      {"none", [](Call<Op>& c) { change_both(c, [](Sums& sums) { sums.reset(); }); }}};
  return row;
}

template <class Op>
Requirement<Op> some_entries(Requirement<Op> row) {
  return tested(
      std::move(row),
      [](const Call<Op>& c) {
        const auto is_empty = [](const Sums& sums) { return sums && sums->empty(); };
        return !is_empty(c.parameters.actual_seq_qlen) && !is_empty(c.parameters.actual_seq_kvlen);
      },
      {{"empty_queries", [](Call<Op>& c) { c.parameters.actual_seq_qlen.emplace(); }},
       {"empty_keys", [](Call<Op>& c) { c.parameters.actual_seq_kvlen.emplace(); }},
       {"both_empty", [](Call<Op>& c) { change_both(c, [](Sums& sums) { sums.emplace(); }); }}});
}

template <std::int64_t longest, class Op>
Requirement<Op> short_sequences(Requirement<Op> row) {
  row.applies = has_sums<Op>;
  return tested(
      std::move(row),
      [](const Call<Op>& c) {
        const auto fits = [](std::int64_t length) { return length <= longest; };
        return every_length(c.parameters.actual_seq_qlen, fits) &&
               every_length(c.parameters.actual_seq_kvlen, fits);
      },
      {{"query",
        [](Call<Op>& c) { rewrite(c, [](SelectionProblem& p) { p.seq_q = longest + 1; }); }},
       {"key", [](Call<Op>& c) {
          rewrite(c, [](SelectionProblem& p) {
            p.seq_kv = (longest / p.selected_block_size + 1) * p.selected_block_size;
          });
        }}});
}

/// Requires that the cumulative lengths increase strictly. Otherwise some length would be below 1.
template <class Op>
Requirement<Op> rising_sums(Requirement<Op> row) {
  static constexpr auto concerned = [](const Call<Op>& c) { return has_sums(c) && ranks_fit(c); };
  row.statement =
      "The cumulative lengths start above 0 and strictly increase; the last one is the number of "
      "tokens of query, or of key.";
  row.applies = concerned;
  row.holds = [](const Call<Op>& c) {
    const auto& p = c.parameters;
    return !concerned(c) ||
           (sums_fit(p.actual_seq_qlen, p.query) && sums_fit(p.actual_seq_kvlen, p.key));
  };
  row.violations = {{"leading_zero",
                     [](Call<Op>& c) {
                       change_both(c, [](Sums& sums) {
                         if (sums) sums->insert(sums->begin(), 0);
                       });
                     }},
                    {"repeated", [](Call<Op>& c) { change_both(c, insert_before_last<0>); }},
                    {"falling", [](Call<Op>& c) { change_both(c, insert_before_last<1>); }},
                    {"last_query",
                     [](Call<Op>& c) {
                       if (has_sums(c)) --c.parameters.actual_seq_qlen->back();
                     }},
                    {"last_key", [](Call<Op>& c) {
                       if (has_sums(c)) ++c.parameters.actual_seq_kvlen->back();
                     }}};
  return row;
}

template <class Op>
bool has_lengths(const Call<Op>& c) {
  return key_as_given(c).has_value();
}

/// Requires at least selectedBlockSize * selectedBlockCount keys in every sequence. This product
/// can exceed 64 bits, so the function divides instead. If selectedBlockCount is 0, every length is
/// sufficient.
template <class Op>
Requirement<Op> enough_keys(Requirement<Op> row) {
  static constexpr auto concerned = [](const Call<Op>& c) {
    return has_lengths(c) && c.attributes.selected_block_size >= 1;
  };
  row.statement =
      "Every sequence of key has at least selectedBlockSize * selectedBlockCount tokens.";
  row.applies = concerned;
  row.holds = [](const Call<Op>& c) {
    const SelectionAttributes& a = c.attributes;
    return !concerned(c) || every_length(c.parameters.actual_seq_kvlen, [&](std::int64_t length) {
      return length / a.selected_block_size >= a.selected_block_count;
    });
  };
  row.violations = {{"one_block_short", [](Call<Op>& c) {
                       rewrite(c, [](SelectionProblem& p) {
                         p.selected_block_count = 2;
                         p.seq_kv = p.selected_block_size;
                       });
                     }}};
  return row;
}

/// Requires lengths that are multiples of selectedBlockSize. If selectedBlockSize is 0, only a
/// length of 0 is a multiple of it.
template <class Op>
Requirement<Op> whole_blocks(Requirement<Op> row) {
  row.statement = "The length of every sequence of key is a multiple of selectedBlockSize.";
  row.applies = has_lengths<Op>;
  row.holds = [](const Call<Op>& c) {
    const std::int64_t size = c.attributes.selected_block_size;
    return !has_lengths(c) || every_length(c.parameters.actual_seq_kvlen, [&](std::int64_t length) {
      return size != 0 && length % size == 0;
    });
  };
  row.violations = {
      {"one_key_more", [](Call<Op>& c) { rewrite(c, [](SelectionProblem& p) { ++p.seq_kv; }); }},
      {"zero_size", [](Call<Op>& c) { c.attributes.selected_block_size = 0; }}};
  return row;
}

template <class Op>
Requirement<Op> small_groups(Requirement<Op> row) {
  static constexpr std::int64_t largest_group = 32;
  static constexpr auto has_groups = [](const Call<Op>& c) {
    return ranks_fit(c) && heads_q(c) > 0 && heads_kv(c) > 0 && heads_q(c) % heads_kv(c) == 0;
  };
  row.statement = "1 to 32 heads of query share a head of key.";
  row.applies = has_groups;
  row.holds = [](const Call<Op>& c) {
    return !has_groups(c) || heads_q(c) / heads_kv(c) <= largest_group;
  };
  row.reaches = [](const Call<Op>& c) { return heads_q(c) / heads_kv(c) == largest_group; };
  row.violations = {{"33", make_heads<33, 1, Op>}, {"64", make_heads<128, 2, Op>}};
  return row;
}

template <class Op>
Requirement<Op> small_blocks(Requirement<Op> row) {
  static constexpr std::int64_t largest_block = 128, block_step = 16;
  row.statement = "selectedBlockSize is a multiple of 16 from 16 to 128.";
  row.holds = [](const Call<Op>& c) {
    const std::int64_t size = c.attributes.selected_block_size;
    return size >= block_step && size <= largest_block && size % block_step == 0;
  };
  row.violations = {{"8", make_block<8, Op>},
                    {"24", make_block<24, Op>},
                    {"144", make_block<144, Op>},
                    {"negative", [](Call<Op>& c) { c.attributes.selected_block_size = -16; }}};
  return row;
}

template <class Op>
Requirement<Op> some_block(Requirement<Op> row) {
  row.statement = "selectedBlockCount is at least 1.";
  row.holds = [](const Call<Op>& c) { return c.attributes.selected_block_count >= 1; };
  row.violations = {{"zero", [](Call<Op>& c) {
                       c.attributes.selected_block_count = 0;
                       Shape shape = c.parameters.topk_indices.shape;
                       if (shape.empty()) return;
                       shape.back() = 0;
                       reshape(c.parameters.topk_indices, shape);
                     }}};
  return row;
}

/// Requires that the lists have selectedBlockCount entries. A negative selectedBlockCount cannot be
/// an extent of a tensor; the requirement `some_block` also refuses it.
template <class Op>
Requirement<Op> lists_of_blocks(Requirement<Op> row) {
  using P = typename Op::Parameters;
  row.statement = "topkIndices has the shape (T1, N2, selectedBlockCount).";
  row.applies = ranks_fit<Op>;
  row.holds = [](const Call<Op>& c) {
    return !ranks_fit(c) ||
           c.parameters.topk_indices.shape ==
               Shape{c.parameters.query.shape[0], heads_kv(c), c.attributes.selected_block_count};
  };
  row.violations = {{"tokens", grow_one<Op, &P::topk_indices, 0>},
                    {"heads", grow_one<Op, &P::topk_indices, 1>},
                    {"blocks", grow_one<Op, &P::topk_indices, 2>},
                    {"negative", [](Call<Op>& c) {
                       if (ranks_fit(c)) c.attributes.selected_block_count = -1;
                     }}};
  return row;
}

template <class Op>
Requirement<Op> statistics_of_fp32(Requirement<Op> row) {
  using P = typename Op::Parameters;
  row.holds = [](const Call<Op>& c) {
    return all_have_type<Op>(c, {&P::softmax_max, &P::softmax_sum},
                             [](DType dtype) { return dtype == DType::fp32; });
  };
  row.violations = {{"softmax_max", retype<Op, &P::softmax_max, DType::fp16>},
                    {"softmax_sum", retype<Op, &P::softmax_sum, DType::fp64>}};
  return row;
}

template <class Op>
bool has_statistics_shape(const Call<Op>& c, Member<Op> member) {
  return (c.parameters.*member).shape ==
         Shape{c.parameters.query.shape[0], heads_q(c), statistics_replicas};
}

template <class Op>
Requirement<Op> statistics_of_rows(Requirement<Op> row) {
  using P = typename Op::Parameters;
  row.applies = ranks_fit<Op>;
  row.holds = [](const Call<Op>& c) {
    return !ranks_fit(c) ||
           (has_statistics_shape(c, &P::softmax_max) && has_statistics_shape(c, &P::softmax_sum));
  };
  row.violations = {{"max_tokens", grow_one<Op, &P::softmax_max, 0>},
                    {"max_heads", grow_one<Op, &P::softmax_max, 1>},
                    {"max_replicas", grow_one<Op, &P::softmax_max, 2, -1>},
                    {"sum_tokens", grow_one<Op, &P::softmax_sum, 0>},
                    {"sum_heads", grow_one<Op, &P::softmax_sum, 1>},
                    {"sum_replicas", grow_one<Op, &P::softmax_sum, 2, -1>}};
  return row;
}

template <class Op>
Requirement<Op> indices_of_int32(Requirement<Op> row) {
  using P = typename Op::Parameters;
  row.statement = "topkIndices is INT32.";
  row.holds = [](const Call<Op>& c) {
    return all_have_type<Op>(c, {&P::topk_indices},
                             [](DType dtype) { return dtype == DType::int32; });
  };
  row.violations = {{"int64", retype<Op, &P::topk_indices, DType::int64>},
                    {"uint32", retype<Op, &P::topk_indices, DType::uint32>}};
  return row;
}

template <DType dtype, class Op>
void put_mask_of(Call<Op>& call) {
  put_mask(call);
  call.parameters.atten_mask.dtype = dtype;
}

template <class Op>
Requirement<Op> mask_of_bytes(Requirement<Op> row) {
  row.statement = "attenMask is BOOL or UINT8.";
  row.applies = has_mask<Op>;
  row.holds = [](const Call<Op>& c) {
    const DType dtype = c.parameters.atten_mask.dtype;
    return !has_mask(c) || dtype == DType::boolean || dtype == DType::uint8;
  };
  row.violations = {{"fp16", put_mask_of<DType::fp16, Op>}, {"int8", put_mask_of<DType::int8, Op>}};
  return row;
}

template <class Op>
void put_private_mask(Call<Op>& call) {
  put_mask(call);
  call.parameters.atten_mask.format = Format::fractal_nz;
}

template <std::size_t leading, class Op>
void add_leading_axes(Call<Op>& call) {
  put_mask(call);
  Shape shape = call.parameters.atten_mask.shape;
  shape.insert(shape.begin(), leading, 1);
  reshape(call.parameters.atten_mask, shape);
}

template <class Op>
Requirement<Op> mask_of_two_axes(Requirement<Op> row) {
  using P = typename Op::Parameters;
  row.statement = "attenMask has two axes.";
  row.applies = has_mask<Op>;
  row.holds = [](const Call<Op>& c) {
    return !has_mask(c) || c.parameters.atten_mask.shape.size() == 2;
  };
  row.violations = {{"one",
                     [](Call<Op>& c) {
                       put_mask(c);
                       drop_axis<Op, &P::atten_mask>(c);
                     }},
                    {"three", add_leading_axes<1, Op>},
                    {"four", add_leading_axes<2, Op>}};
  return row;
}

}  // namespace assay::spec::nsa::selection
