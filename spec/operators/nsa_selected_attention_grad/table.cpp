#include "operators/nsa_selected_attention_grad/table.hpp"

namespace assay::spec::nsa {

using P = SelectedOp::Parameters;

bool ranks_fit(const SelectedCall& call) {
  static constexpr auto tensors = {
      &P::query,       &P::key,         &P::value,       &P::attention_out, &P::attention_out_grad,
      &P::softmax_max, &P::softmax_sum, &P::topk_indices};
  return all_present<SelectedOp>(call, tensors) && all_have_rank<SelectedOp>(call, tensors, 3);
}

bool has_sums(const SelectedCall& call) {
  const P& p = call.parameters;
  return p.actual_seq_qlen && p.actual_seq_kvlen && !p.actual_seq_qlen->empty() &&
         !p.actual_seq_kvlen->empty();
}

bool sums_fit(const Sums& sums, const Parameter& parameter) {
  return sums && !sums->empty() && sums->front() >= 1 &&
         std::ranges::adjacent_find(*sums, std::ranges::greater_equal()) == sums->end() &&
         sums->back() == parameter.shape[0];
}

std::optional<Extents> query_as_given(const SelectedCall& call) {
  const P& p = call.parameters;
  if (!ranks_fit(call) || !sums_fit(p.actual_seq_qlen, p.query) ||
      !sums_fit(p.actual_seq_kvlen, p.key) ||
      p.actual_seq_qlen->size() != p.actual_seq_kvlen->size())
    return std::nullopt;
  return packed_extents(p.query.shape, *p.actual_seq_qlen);
}

std::optional<Extents> key_as_given(const SelectedCall& call) {
  if (!query_as_given(call)) return std::nullopt;
  return packed_extents(call.parameters.key.shape, *call.parameters.actual_seq_kvlen);
}

std::optional<SelectedProblem> problem_of(const SelectedCall& call) {
  const auto query = query_as_given(call);
  const auto key = key_as_given(call);
  if (!query || !key) return std::nullopt;
  const P& p = call.parameters;
  const auto& a = call.attributes;
  return SelectedProblem{
      .dtype = p.query.dtype,
      .batch = query->batch,
      .heads_q = query->heads,
      .heads_kv = key->heads,
      .seq_q = query->seq,
      .seq_kv = key->seq,
      .lengths_q = lengths_of(*query),
      .lengths_kv = lengths_of(*key),
      .head_dim = query->dim,
      .head_dim_v = p.value.shape[2],
      .scale_value = a.scale_value,
      .selected_block_size = a.selected_block_size,
      .selected_block_count = a.selected_block_count,
      .sparse_mode = a.sparse_mode,
      .atten_mask = given(p.atten_mask) ? SelectedMask::compressed : SelectedMask::absent,
      .mask_dtype = given(p.atten_mask) ? p.atten_mask.dtype : DType::boolean};
}

void rewrite(SelectedCall& call, void (*change)(SelectedProblem& problem)) {
  auto problem = problem_of(call);
  if (!problem) return;
  problem->lengths_q.clear();
  problem->lengths_kv.clear();
  problem->atten_mask = SelectedMask::absent;
  problem->sparse_mode = 0;
  problem->seq_kv = problem->selected_block_size * problem->selected_block_count;
  change(*problem);
  call =
      call_of(*problem, call.entry_point, call.product, Striding::contiguous, Striding::contiguous);
}

void put_mask(SelectedCall& call) {
  Parameter& mask = call.parameters.atten_mask;
  if (given(mask)) return;
  mask = {.present = true, .dtype = DType::boolean};
  reshape(mask, {compressed_mask_edge, compressed_mask_edge});
}

}  // namespace assay::spec::nsa
