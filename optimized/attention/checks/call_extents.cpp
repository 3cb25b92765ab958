#include "flash_attention_score_grad/checks/call_extents.hpp"

#include <algorithm>
#include <limits>

namespace assay::optimized {
namespace {

using Call = spec::Call<spec::FlashAttentionScoreGrad>;
using Lengths = std::vector<std::int64_t>;

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

/// Returns the product of two non-negative numbers, or the largest 64-bit integer if the product
/// overflows.
std::int64_t saturated_product(std::int64_t a, std::int64_t b) {
  return b != 0 && a > most / b ? most : a * b;
}

Lengths differences(const std::optional<Lengths>& sums) {
  Lengths lengths;
  if (!sums) return lengths;
  lengths.reserve(sums->size());
  std::int64_t start = 0;
  for (const std::int64_t end : *sums) {
    lengths.push_back(end - start);
    start = end;
  }
  return lengths;
}

std::int64_t longest(const Lengths& lengths) {
  return lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end());
}

}  // namespace

std::optional<spec::Layout> layout_of(const Call& call) {
  return spec::spellings_of<spec::Layout>.parse(*call.attributes.input_layout);
}

Axes axes_of(spec::Layout layout) {
  switch (layout) {
    case spec::Layout::bsh:
      return {.batch = 0, .seq = 1, .heads = 2, .merged = true};
    case spec::Layout::sbh:
      return {.batch = 1, .seq = 0, .heads = 2, .merged = true};
    case spec::Layout::bsnd:
      return {.batch = 0, .seq = 1, .heads = 2, .merged = false};
    case spec::Layout::tnd:
      return {.batch = 0, .seq = 0, .heads = 1, .merged = false};
    case spec::Layout::bnsd:
      break;
  }
  return {.batch = 0, .seq = 2, .heads = 1, .merged = false};
}

CallExtents extents_of(const Call& call) {
  const spec::Layout layout = *layout_of(call);
  const Axes axes = axes_of(layout);
  const spec::Shape& query = call.parameters.query.shape;
  const spec::Shape& key = call.parameters.key.shape;
  const spec::Shape& value = call.parameters.value.shape;
  CallExtents e;
  if (is_packed(layout)) {
    e.lengths_q = differences(call.parameters.actual_seq_qlen);
    e.lengths_kv = differences(call.parameters.actual_seq_kvlen);
    e.batch = static_cast<std::int64_t>(e.lengths_q.size());
  } else {
    e.lengths_q = {query[axes.seq]}, e.lengths_kv = {key[axes.seq]};
    e.batch = query[axes.batch];
  }
  e.seq_q = longest(e.lengths_q), e.seq_kv = longest(e.lengths_kv);
  if (!axes.merged) {
    e.heads_q = query[axes.heads], e.heads_kv = key[axes.heads];
    e.head_dim = query.back(), e.head_dim_v = value.back();
    return e;
  }
  e.heads_q = call.attributes.head_num;
  e.head_dim = query.back() / e.heads_q;
  e.heads_kv = e.head_dim == 0 ? 0 : key.back() / e.head_dim;
  e.head_dim_v = e.heads_kv == 0 ? 0 : value.back() / e.heads_kv;
  return e;
}

std::int64_t score_count(const CallExtents& extents) {
  std::int64_t pairs = 0;
  for (std::size_t b = 0; b < extents.lengths_q.size(); ++b) {
    const std::int64_t more = saturated_product(extents.lengths_q[b], extents.lengths_kv[b]);
    pairs = more > most - pairs ? most : pairs + more;
  }
  // In a padded layout, one entry stands for all sequences of the batch.
  const auto listed = static_cast<std::int64_t>(extents.lengths_q.size());
  const std::int64_t alike = listed == extents.batch ? 1 : extents.batch;
  return saturated_product(saturated_product(extents.heads_q, alike), pairs);
}

bool is_empty(const spec::Shape& shape) {
  return std::find(shape.begin(), shape.end(), 0) != shape.end();
}

std::int64_t saturated_count(const spec::Shape& shape) {
  if (is_empty(shape)) return 0;
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count = saturated_product(count, extent);
  return count;
}

bool any_output_empty(const Call& call) {
  const auto& p = call.parameters;
  return is_empty(p.dq.shape) || is_empty(p.dk.shape) || is_empty(p.dv.shape);
}

bool all_outputs_empty(const Call& call) {
  const auto& p = call.parameters;
  return is_empty(p.dq.shape) && is_empty(p.dk.shape) && is_empty(p.dv.shape);
}

}  // namespace assay::optimized
