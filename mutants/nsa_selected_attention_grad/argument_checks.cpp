#include "nsa_selected_attention_grad/argument_checks.hpp"

#include <algorithm>
#include <iterator>

namespace assay::mutants::selected {
namespace {

using spec::Shape;
using spec::Status;
using Call = spec::Call<Op>;
using Sums = std::vector<std::int64_t>;

constexpr Status invalid = Status::param_invalid;
constexpr std::int64_t kibi = 1024, mebi = 1024 * kibi;

bool within(std::int64_t value, std::int64_t low, std::int64_t high) {
  return low <= value && value <= high;
}

Sums sums_q(const Call& c) { return c.parameters.actual_seq_qlen.value_or(Sums{}); }
Sums sums_kv(const Call& c) { return c.parameters.actual_seq_kvlen.value_or(Sums{}); }

/// Start above 0, rise strictly, end with the tokens.
bool fit(const Sums& sums, std::int64_t tokens) {
  return sums.empty() ||
         (sums.front() > 0 && sums.back() == tokens &&
          std::ranges::adjacent_find(sums, std::ranges::greater_equal()) == sums.end());
}

template <class Holds>
bool every_length(const Sums& sums, const Holds& holds) {
  std::int64_t start = 0;
  for (const std::int64_t end : sums) {
    if (!holds(end - start)) return false;
    start = end;
  }
  return true;
}

/// Extents of framed calls.
std::int64_t heads_q(const Call& c) { return c.parameters.query.shape[1]; }
std::int64_t heads_kv(const Call& c) { return c.parameters.key.shape[1]; }

bool is_grouped(const Call& c) {
  return is_framed(c) && heads_kv(c) > 0 && heads_q(c) % heads_kv(c) == 0;
}

/// Whether both forms of the forward's output have the extent of `like` along the axis.
bool attention_fits(const Call& c, const spec::Parameter& like, std::size_t axis) {
  if (!is_framed(c)) return true;
  return c.parameters.attention_out.shape[axis] == like.shape[axis] &&
         c.parameters.attention_out_grad.shape[axis] == like.shape[axis];
}

/// A block size of which lengths can be multiples.
bool has_blocks(const Call& c) {
  return c.attributes.selected_block_size > 0 && c.attributes.selected_block_count > 0;
}

}  // namespace

std::vector<Check> frame_checks() {
  return {
      {"NSAS-C11", invalid, "inputLayout is TND",
       [](const Call& c) { return c.attributes.input_layout.value_or("TND") == "TND"; }},
      {"NSAS-C12", invalid, "the inputs have three axes", has_three_axes},
      {"NSAS-C13", invalid, "both arrays of sums have as many entries",
       [](const Call& c) { return sums_q(c).size() == sums_kv(c).size(); }},
      {"NSAS-C15", invalid, "the sums rise from above 0 to the number of tokens",
       [](const Call& c) {
         return !is_framed(c) || (fit(sums_q(c), c.parameters.query.shape[0]) &&
                                  fit(sums_kv(c), c.parameters.key.shape[0]));
       }},
      {"NSAS-C33", invalid, "sparseMode is 0 or 2",
       [](const Call& c) {
         return c.attributes.sparse_mode == 0 || c.attributes.sparse_mode == 2;
       }},
      {"NSAS-C34", invalid, "selectedBlockSize is a multiple of 16 up to 128",
       [](const Call& c) {
         const std::int64_t size = c.attributes.selected_block_size;
         return within(size, 16, 128) && size % 16 == 0;
       }},
      {"NSAS-C35", invalid, "selectedBlockCount is at least 1",
       [](const Call& c) { return c.attributes.selected_block_count >= 1; }},
      {"NSAS-C36", invalid, "atten_mask has two axes",
       [](const Call& c) {
         const std::size_t rank = c.parameters.atten_mask.shape.size();
         return !c.parameters.atten_mask.present || rank == 0 || rank == 2;
       }},
      {"NSAS-C17a", invalid, "headNum is the number of query heads",
       [](const Call& c) { return !is_framed(c) || c.attributes.head_num == heads_q(c); }},
  };
}

std::vector<Check> shape_checks() {
  return {
      {"NSAS-C16", invalid, "key and value have as many heads",
       [](const Call& c) { return !is_framed(c) || c.parameters.value.shape[1] == heads_kv(c); }},
      {"NSAS-C17", invalid, "attention_out and its gradient have the heads of query",
       [](const Call& c) { return attention_fits(c, c.parameters.query, 1); }},
      {"NSAS-C18", invalid, "attention_out and its gradient have the head size of value",
       [](const Call& c) { return attention_fits(c, c.parameters.value, 2); }},
      {"NSAS-C19", invalid, "key has the head size of query",
       [](const Call& c) {
         return !is_framed(c) || c.parameters.key.shape[2] == c.parameters.query.shape[2];
       }},
      {"NSAS-C22", invalid, "query has up to 2M tokens, attention_out and its gradient as many",
       [](const Call& c) {
         return !is_framed(c) || (c.parameters.query.shape[0] <= 2 * mebi &&
                                  attention_fits(c, c.parameters.query, 0));
       }},
      {"NSAS-C23", invalid, "key has up to 2M tokens, value as many",
       [](const Call& c) {
         const std::int64_t tokens = is_framed(c) ? c.parameters.key.shape[0] : 0;
         return tokens <= 2 * mebi && (tokens == 0 || c.parameters.value.shape[0] == tokens);
       }},
      {"NSAS-C31", invalid, "the statistics have the shape (T1, N1, 8)",
       [](const Call& c) {
         if (!is_framed(c)) return true;
         const Shape expected = {c.parameters.query.shape[0], heads_q(c), 8};
         return c.parameters.softmax_max.shape == expected &&
                c.parameters.softmax_sum.shape == expected;
       }},
      {"NSAS-C32", invalid, "topk_indices has the shape (T1, N2, selectedBlockCount)",
       [](const Call& c) {
         const std::int64_t count = c.attributes.selected_block_count;
         return !is_framed(c) || count < 1 ||
                c.parameters.topk_indices.shape ==
                    Shape{c.parameters.query.shape[0], heads_kv(c), count};
       }},
      {"NSAS-C37", invalid, "the gradients have the shapes of query, key and value",
       [](const Call& c) {
         const auto& p = c.parameters;
         const auto fits = [](const spec::Parameter& gradient, const spec::Parameter& operand) {
           return !gradient.present || !operand.present || gradient.shape == operand.shape;
         };
         return fits(p.dq, p.query) && fits(p.dk, p.key) && fits(p.dv, p.value);
       }},
  };
}

std::vector<Check> size_checks() {
  return {
      {"NSAS-C21", invalid, "head sizes are 192 or 128",
       [](const Call& c) {
         const auto known = [](std::int64_t dim) { return dim == 192 || dim == 128; };
         return !is_framed(c) ||
                (known(c.parameters.query.shape[2]) && known(c.parameters.value.shape[2]));
       }},
      {"NSAS-C26", invalid, "key has 1 to 128 heads",
       [](const Call& c) { return !is_framed(c) || within(heads_kv(c), 1, 128); }},
      {"NSAS-C25", invalid, "query has 1 to 128 heads, a multiple of those of key",
       [](const Call& c) {
         return !is_framed(c) || (within(heads_q(c), 1, 128) && (heads_kv(c) < 1 || is_grouped(c)));
       }},
      {"NSAS-C27", invalid, "up to 32 query heads share a key head",
       [](const Call& c) { return !is_grouped(c) || heads_q(c) / heads_kv(c) <= 32; }},
      {"NSAS-C28", invalid, "sequences have up to 128K tokens",
       [](const Call& c) {
         const auto fits = [](std::int64_t length) { return length <= 128 * kibi; };
         return every_length(sums_q(c), fits) && every_length(sums_kv(c), fits);
       }},
      {"NSAS-C30", invalid, "sequences of key are whole blocks",
       [](const Call& c) {
         return !has_blocks(c) || every_length(sums_kv(c), [&](std::int64_t length) {
           return length % c.attributes.selected_block_size == 0;
         });
       }},
  };
}

std::vector<Check> all_checks() {
  std::vector<Check> all;
  for (std::vector<Check> (*part)() :
       {presence_checks, type_checks, frame_checks, shape_checks, size_checks})
    std::ranges::move(part(), std::back_inserter(all));
  return all;
}

}  // namespace assay::mutants::selected
