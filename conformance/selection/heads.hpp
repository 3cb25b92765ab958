#pragma once

#include <vector>

#include "assay/reference/selection.hpp"
#include "assay/spec/tensor.hpp"

/// Splits a large case into small problems that need little memory. Each of them has one key head
/// of a sequence and the query heads that read it.
namespace assay::conformance::selection {

/// The query heads `first` to `first + count - 1` of sequence b. All of them read the same key
/// head.
struct Heads {
  std::int64_t b, first, count;
};

/// Part number `part` of a case consists of key head `part % heads_kv` of sequence `part /
/// heads_kv` and the query heads that read it. Returns these query heads.
inline Heads heads_of_part(const spec::SelectionProblem& p, std::int64_t part) {
  return {part / p.heads_kv, part % p.heads_kv * p.group(), p.group()};
}

inline spec::SelectionProblem problem_of(const spec::SelectionProblem& p, const Heads& heads) {
  spec::SelectionProblem own = p;
  own.batch = own.heads_kv = 1;
  own.heads_q = heads.count;
  own.seq_q = p.length_q(heads.b);
  own.seq_kv = p.length_kv(heads.b);
  own.lengths_q.clear();
  own.lengths_kv.clear();
  return own;
}

/// Returns the rows of these heads, one head after the other.
template <class Number>
std::vector<Number> rows_of(const spec::Tensor& tensor, const spec::Extents& e,
                            const Heads& heads) {
  const spec::HeadView view(tensor, spec::Layout::tnd, e);
  std::vector<double> row(static_cast<std::size_t>(e.dim));
  std::vector<Number> rows;
  for (std::int64_t n = heads.first; n < heads.first + heads.count; ++n)
    for (std::int64_t s = 0; s < e.length(heads.b); ++s) {
      view.read_row(heads.b, n, s, row);
      for (const double x : row) rows.push_back(static_cast<Number>(x));
    }
  return rows;
}

/// Returns those parts of the key tensors and lists that these heads read.
template <class Real, class Inputs>
reference::SelectedOperands<Real> key_side(const spec::SelectionProblem& p, const Inputs& inputs,
                                           const Heads& heads) {
  const Heads key{heads.b, heads.first / p.group(), 1};
  return {.query = {},
          .key = rows_of<Real>(inputs.key, key_extents(p), key),
          .value = rows_of<Real>(inputs.value, value_extents(p), key),
          .attention_out_grad = {},
          .softmax_max = {},
          .softmax_sum = {},
          .attention_out = {},
          .topk_indices = rows_of<std::int64_t>(inputs.topk_indices, topk_extents(p), key)};
}

/// Returns the parts of all forward inputs that these heads read.
template <class Real, class Inputs>
reference::SelectedOperands<Real> forward_operands_of(const spec::SelectionProblem& p,
                                                      const Inputs& inputs, const Heads& heads) {
  reference::SelectedOperands<Real> own = key_side<Real>(p, inputs, heads);
  own.query = rows_of<Real>(inputs.query, query_extents(p), heads);
  return own;
}

/// Returns the parts of all gradient inputs that these heads read.
template <class Real, class Inputs>
reference::SelectedOperands<Real> gradient_operands_of(const spec::SelectionProblem& p,
                                                       const Inputs& inputs, const Heads& heads) {
  reference::SelectedOperands<Real> own = forward_operands_of<Real>(p, inputs, heads);
  spec::Extents statistics = query_extents(p);
  statistics.dim = spec::statistics_replicas;
  const auto first_replica = [&](const spec::Tensor& tensor) {
    const std::vector<Real> all = rows_of<Real>(tensor, statistics, heads);
    std::vector<Real> first;
    for (std::size_t k = 0; k < all.size(); k += spec::statistics_replicas) first.push_back(all[k]);
    return first;
  };
  own.attention_out_grad =
      rows_of<Real>(inputs.attention_out_grad, attention_out_extents(p), heads);
  own.attention_out = rows_of<Real>(inputs.attention_out, attention_out_extents(p), heads);
  own.softmax_max = first_replica(inputs.softmax_max);
  own.softmax_sum = first_replica(inputs.softmax_sum);
  return own;
}

}  // namespace assay::conformance::selection
