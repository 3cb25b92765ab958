#include "flash_attention_score_grad/call_extents.hpp"

namespace assay::optimized {

using Call = spec::Call<spec::FlashAttentionScoreGrad>;

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
    case spec::Layout::bnsd:
    case spec::Layout::tnd:
      break;
  }
  return {.batch = 0, .seq = 2, .heads = 1, .merged = false};
}

CallExtents extents_of(const Call& call) {
  const Axes axes = axes_of(*layout_of(call));
  const spec::Shape& query = call.parameters.query.shape;
  const spec::Shape& key = call.parameters.key.shape;
  const spec::Shape& value = call.parameters.value.shape;
  CallExtents e{.batch = query[axes.batch], .seq_q = query[axes.seq], .seq_kv = key[axes.seq]};
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

bool any_output_empty(const Call& call) {
  const auto& p = call.parameters;
  for (const spec::Parameter* output : {&p.dq, &p.dk, &p.dv})
    if (spec::element_count(output->shape) == 0) return true;
  return false;
}

bool all_outputs_empty(const Call& call) {
  const auto& p = call.parameters;
  for (const spec::Parameter* output : {&p.dq, &p.dk, &p.dv})
    if (spec::element_count(output->shape) != 0) return false;
  return true;
}

std::string text_of(const spec::Shape& shape) {
  std::string text = "[";
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (axis > 0) text += ", ";
    text += std::to_string(shape[axis]);
  }
  return text + "]";
}

}  // namespace assay::optimized
