#include "assay/reference/operands.hpp"

#include <cstdint>
#include <optional>
#include <stdexcept>

#include "dense.hpp"

namespace assay::reference {
namespace {

using Problem = spec::AttentionProblem;
using Inputs = spec::FlashAttentionScoreGrad::Inputs;
using ForwardInputs = spec::FlashAttentionScore::Inputs;

template <class Real>
std::vector<Real> dense_rope(const std::optional<spec::Tensor>& tensor, const Problem& p,
                             const spec::Extents& extents) {
  if (p.head_dim_rope == 0) return {};
  return dense<Real>(rope_tensor(tensor), p.input_layout, extents);
}

/// Returns the sink of every query head; an empty vector if the problem has no sink.
template <class Real>
std::vector<Real> sinks_of(const std::optional<spec::Tensor>& sink, const Problem& p) {
  if (!p.has_sink()) return {};
  if (!sink) throw std::invalid_argument("the problem has a sink, but its tensor is missing");
  if (sink->shape != spec::Shape{p.heads_q})
    throw std::invalid_argument("sink has shape " + text_of(sink->shape) + "; it must be " +
                                text_of({p.heads_q}));
  std::vector<Real> sinks;
  for (const std::int64_t element : spec::viewed_elements(*sink))
    sinks.push_back(static_cast<Real>(sink->load(element)));
  return sinks;
}

/// Reads the tensors that define the scores and the output of attention: query, key, value, their
/// rope parts and the sink.
template <class Real, class Tensors>
Operands<Real> score_operands(const Problem& p, const Tensors& inputs) {
  return {.query = dense<Real>(inputs.query, p.input_layout, query_extents(p)),
          .key = dense<Real>(inputs.key, p.input_layout, key_extents(p)),
          .value = dense<Real>(inputs.value, p.input_layout, value_extents(p)),
          .query_rope = dense_rope<Real>(inputs.query_rope, p, query_rope_extents(p)),
          .key_rope = dense_rope<Real>(inputs.key_rope, p, key_rope_extents(p)),
          .sink = sinks_of<Real>(inputs.sink, p)};
}

TensorRows rope_rows(const std::optional<spec::Tensor>& tensor, const Problem& p,
                     const spec::Extents& extents) {
  if (p.head_dim_rope == 0) return {};
  return {rope_tensor(tensor), p.input_layout, extents};
}

template <class Tensors>
TensorOperands score_rows(const Problem& p, const Tensors& inputs) {
  return {.query = {inputs.query, p.input_layout, query_extents(p)},
          .key = {inputs.key, p.input_layout, key_extents(p)},
          .value = {inputs.value, p.input_layout, value_extents(p)},
          .query_rope = rope_rows(inputs.query_rope, p, query_rope_extents(p)),
          .key_rope = rope_rows(inputs.key_rope, p, key_rope_extents(p)),
          .sink = sinks_of<float>(inputs.sink, p)};
}

/// Returns the position of the first copy of query row (b, n, i) in statistics of layout TND that
/// are stored token by token, then head by head.
spec::RowPosition statistics_position(const Problem& p, const spec::Extents& e,
                                      const spec::RowPosition& at) {
  if (p.statistics_order == spec::StatisticsOrder::tokens_first)
    return {.b = 0, .n = at.n, .s = e.start(at.b) + at.s};
  // With heads_first, the statistics are stored sequence by sequence, and within a sequence head by
  // head. The tensor still has the shape (T1, N1, 8), whose axes suggest another order.
  const std::int64_t row = e.row(at.b, at.n, at.s);
  return {.b = 0, .n = row % e.heads, .s = row / e.heads};
}

}  // namespace

const spec::Tensor& rope_tensor(const std::optional<spec::Tensor>& tensor) {
  if (!tensor) throw std::invalid_argument("head_dim_rope is not 0, but a rope tensor is missing");
  return *tensor;
}

template <class Real>
std::vector<Real> statistics_of(const spec::Tensor& tensor, const Problem& p) {
  const spec::Extents e = query_extents(p);
  const bool packed_tokens = is_packed(p.input_layout);
  const spec::HeadView view =
      packed_tokens
          ? spec::HeadView(tensor, spec::Layout::tnd,
                           {1, e.heads, e.tokens() + e.padding, spec::statistics_replicas})
          : spec::HeadView(tensor, spec::Layout::bnsd,
                           {e.batch, e.heads, e.seq, spec::statistics_replicas});
  std::vector<Real> elements;
  elements.reserve(static_cast<std::size_t>(e.rows()));
  for (std::int64_t b = 0; b < e.batch; ++b)
    for (std::int64_t n = 0; n < e.heads; ++n)
      for (std::int64_t i = 0; i < e.length(b); ++i) {
        const spec::RowPosition row = {.b = b, .n = n, .s = i};
        const spec::RowPosition at = packed_tokens ? statistics_position(p, e, row) : row;
        elements.push_back(static_cast<Real>(view(at.b, at.n, at.s, 0)));
      }
  return elements;
}

template <class Real>
Operands<Real> operands_of(const Problem& p, const Inputs& inputs) {
  Operands<Real> operands = score_operands<Real>(p, inputs);
  operands.dy = dense<Real>(inputs.dy, p.input_layout, dy_extents(p));
  operands.softmax_max = statistics_of<Real>(inputs.softmax_max, p);
  operands.softmax_sum = statistics_of<Real>(inputs.softmax_sum, p);
  operands.attention_in = dense<Real>(inputs.attention_in, p.input_layout, dy_extents(p));
  return operands;
}

template <class Real>
Operands<Real> operands_of(const Problem& p, const ForwardInputs& inputs) {
  return score_operands<Real>(p, inputs);
}

void TensorRows::read(std::int64_t index, std::span<double> values) const {
  const spec::RowPosition row = view_.value().extents().position(index);
  view_->read_row(row.b, row.n, row.s, values);
}

TensorOperands tensor_operands_of(const Problem& p, const Inputs& inputs) {
  TensorOperands operands = score_rows(p, inputs);
  operands.dy = {inputs.dy, p.input_layout, dy_extents(p)};
  operands.softmax_max = statistics_of<float>(inputs.softmax_max, p);
  operands.softmax_sum = statistics_of<float>(inputs.softmax_sum, p);
  operands.attention_in = {inputs.attention_in, p.input_layout, dy_extents(p)};
  return operands;
}

TensorOperands tensor_operands_of(const Problem& p, const ForwardInputs& inputs) {
  return score_rows(p, inputs);
}

template std::vector<float> statistics_of(const spec::Tensor&, const Problem&);
template std::vector<double> statistics_of(const spec::Tensor&, const Problem&);

template Operands<float> operands_of(const Problem&, const Inputs&);
template Operands<double> operands_of(const Problem&, const Inputs&);
template Operands<Quad> operands_of(const Problem&, const Inputs&);
template Operands<Fifty> operands_of(const Problem&, const Inputs&);
template Operands<SeventyFive> operands_of(const Problem&, const Inputs&);
template Operands<float> operands_of(const Problem&, const ForwardInputs&);
template Operands<double> operands_of(const Problem&, const ForwardInputs&);
template Operands<Quad> operands_of(const Problem&, const ForwardInputs&);
template Operands<Fifty> operands_of(const Problem&, const ForwardInputs&);
template Operands<SeventyFive> operands_of(const Problem&, const ForwardInputs&);

}  // namespace assay::reference
