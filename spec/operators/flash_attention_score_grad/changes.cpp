#include <algorithm>

#include "operators/flash_attention_score_grad/table.hpp"

namespace assay::spec::detail {
namespace {

constexpr double half = 0.5;

void attach(Parameter& parameter, DType dtype, const Shape& shape) {
  parameter = {.present = true, .dtype = dtype};
  reshape(parameter, shape);
}

bool is_empty_anywhere(const FlashProblem& p) {
  for (std::int64_t b = 0; b < p.batch; ++b)
    if (p.length_q(b) == 0 || p.length_kv(b) == 0) return true;
  return p.batch == 0;
}

void leave_no_sequence_empty(FlashProblem& p) {
  if (!is_empty_anywhere(p)) return;
  p.batch = std::max<std::int64_t>(1, p.batch);
  make_uniform(p);
}

}  // namespace

void reshape(Parameter& parameter, const Shape& shape) {
  parameter.shape = shape;
  apply_striding(parameter, Striding::contiguous);
}

void rewrite(FlashCall& call, void (*change)(FlashProblem&)) {
  FlashCall bare = call;
  bare.parameters.pse_shift = bare.parameters.drop_mask = bare.parameters.atten_mask = {};
  bare.parameters.prefix.reset();
  bare.parameters.q_start_idx.reset();
  bare.parameters.kv_start_idx.reset();
  auto problem = problem_of(bare);
  if (!problem) return;
  problem->padding_q = problem->padding_kv = 0;
  problem->keep_prob = 1;
  problem->sparse_mode = 0;
  problem->pse_type = 1;
  problem->pre_tokens = problem->next_tokens = unbounded_tokens;
  if (is_u3(call)) problem->atten_mask = MaskShape::ss;
  change(*problem);
  call =
      call_of(*problem, call.entry_point, call.product, Striding::contiguous, Striding::contiguous);
}

void make_uniform(FlashProblem& p) {
  p.lengths_q.clear();
  p.lengths_kv.clear();
  p.seq_q = std::max<std::int64_t>(1, p.seq_q);
  p.seq_kv = std::max<std::int64_t>(1, p.seq_kv);
}

void make_square(FlashProblem& p) {
  make_uniform(p);
  p.seq_kv = p.seq_q;
}

void make_small(FlashProblem& p) {
  p.batch = p.heads_q = p.heads_kv = 1;
  p.seq_q = p.seq_kv = 16;
  make_uniform(p);
}

void grow(FlashCall& call, std::initializer_list<FlashMember> members, Axis axis) {
  const auto problem = problem_of(call);
  if (!problem) return;
  const auto position = position_of(problem->input_layout, axis);
  if (!position) return;
  for (const FlashMember member : members) {
    Parameter& parameter = call.parameters.*member;
    if (!given(parameter)) continue;
    Shape shape = parameter.shape;
    std::int64_t step = 1;
    if (merges_heads(problem->input_layout) && (axis == Axis::heads || axis == Axis::dim)) {
      const bool of_key = member == &FlashParameters::key || member == &FlashParameters::dk ||
                          member == &FlashParameters::value || member == &FlashParameters::dv;
      const std::int64_t heads = of_key ? problem->heads_kv : problem->heads_q;
      step = axis == Axis::dim ? heads : shape.back() / heads;
    }
    shape[*position] += step;
    reshape(parameter, shape);
  }
}

void put_mask(FlashCall& call, std::int64_t sparse_mode, const Shape& shape) {
  attach(call.parameters.atten_mask, DType::boolean, shape);
  call.attributes.sparse_mode = sparse_mode;
  call.attributes.pre_tokens = call.attributes.next_tokens = unbounded_tokens;
}

void put_compressed_mask(FlashCall& call, std::int64_t sparse_mode) {
  const std::int64_t rows = sparse_mode == 6 ? compressed_prefix_rows : 0;
  put_mask(call, sparse_mode, {compressed_mask_edge + rows, compressed_mask_edge});
}

void put_pse(FlashCall& call) {
  auto problem = problem_of(call);
  if (!problem) return;
  problem->pse_type = 1;
  problem->pse_shift = is_packed(call) ? PseShape::bnhs : PseShape::bnss;
  attach(call.parameters.pse_shift, pse_dtype(*problem), pse_shape(*problem));
  call.attributes.pse_type = 1;
}

void put_slopes(FlashCall& call, std::int64_t pse_type) {
  const auto problem = problem_of(call);
  if (!problem || !takes_slopes(call)) return;
  attach(call.parameters.pse_shift, DType::fp32, {problem->heads_q});
  call.attributes.pse_type = pse_type;
}

void put_prefix(FlashCall& call) {
  const auto key = key_as_given(call);
  if (!key) return;
  auto& prefix = call.parameters.prefix.emplace();
  for (std::int64_t b = 0; b < key->batch; ++b) prefix.push_back(key->length(b));
}

void attach_mask(FlashCall& call, std::int64_t sparse_mode, const Shape& shape) {
  if (!problem_of(call)) return;
  rewrite(call, leave_no_sequence_empty);
  put_mask(call, sparse_mode, shape);
}

void attach_mask(FlashCall& call) {
  if (given(call.parameters.atten_mask)) return;
  rewrite(call, leave_no_sequence_empty);
  const auto problem = problem_of(call);
  if (problem && !given(call.parameters.atten_mask))
    put_mask(call, 0, {problem->seq_q, problem->seq_kv});
}

void attach_pse(FlashCall& call) {
  if (!takes_pse_and_dropout(call)) return;
  rewrite(call, is_packed(call) ? make_square : leave_no_sequence_empty);
  if (is_packed(call)) put_compressed_mask(call, 2);
  put_pse(call);
}

void make_square_fp32(FlashProblem& p) {
  make_square(p);
  p.dtype = DType::fp32;
}

void attach_slopes(FlashCall& call, std::int64_t pse_type) {
  if (!takes_slopes(call)) return;
  rewrite(call, make_square_fp32);
  put_slopes(call, pse_type);
}

void attach_drop_mask(FlashCall& call) {
  if (!takes_pse_and_dropout(call)) return;
  rewrite(call, leave_no_sequence_empty);
  const auto bytes = drop_mask_bytes(call);
  if (!bytes) return;
  attach(call.parameters.drop_mask, DType::uint8, {*bytes});
  call.attributes.keep_prob = half;
}

void attach_prefix(FlashCall& call) {
  if (is_u3(call) || !problem_of(call)) return;
  rewrite(call, leave_no_sequence_empty);
  put_compressed_mask(call, 6);
  put_prefix(call);
}

}  // namespace assay::spec::detail
