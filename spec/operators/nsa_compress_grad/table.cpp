#include "operators/nsa_compress_grad/table.hpp"

#include <algorithm>
#include <limits>

namespace assay::spec::nsa {

using P = CompressOp::Parameters;

bool ranks_fit(const CompressCall& call) {
  static constexpr auto packed = {&P::output_grad, &P::input, &P::input_grad};
  static constexpr auto weights = {&P::weight, &P::weight_grad};
  return all_present<CompressOp>(call, packed) && all_present<CompressOp>(call, weights) &&
         all_have_rank<CompressOp>(call, packed, 3) && all_have_rank<CompressOp>(call, weights, 2);
}

bool has_sums(const CompressCall& call) {
  const Sums& sums = call.parameters.act_seq_len;
  return sums && !sums->empty();
}

Sums sums_of(const CompressCall& call) {
  Sums sums = call.parameters.act_seq_len;
  if (!sums || call.attributes.act_seq_len_type != 1) return sums;
  std::int64_t end = 0;
  for (std::int64_t& entry : *sums) {
    if (entry < 0 || entry > std::numeric_limits<std::int64_t>::max() - end)
      return std::vector<std::int64_t>{-1};
    end = entry += end;
  }
  return sums;
}

bool is_ascending(const Sums& sums) {
  return sums && !sums->empty() && sums->front() >= 0 && std::ranges::is_sorted(*sums);
}

std::optional<Extents> input_as_given(const CompressCall& call) {
  const P& p = call.parameters;
  const Sums sums = sums_of(call);
  if (!ranks_fit(call) || !is_ascending(sums) || sums->back() != p.input.shape[0])
    return std::nullopt;
  return packed_extents(p.input.shape, *sums);
}

std::optional<std::int64_t> windows_as_given(const CompressCall& call) {
  const auto input = input_as_given(call);
  const auto& a = call.attributes;
  if (!input || a.compress_block_size <= 0 || a.compress_stride <= 0) return std::nullopt;
  std::int64_t windows = 0;
  for (std::int64_t b = 0; b < input->batch; ++b)
    windows += window_count(input->length(b), a.compress_block_size, a.compress_stride);
  return windows;
}

std::optional<CompressProblem> problem_of(const CompressCall& call) {
  const auto input = input_as_given(call);
  if (!input) return std::nullopt;
  return CompressProblem{.dtype = call.parameters.input.dtype,
                         .batch = input->batch,
                         .heads = input->heads,
                         .seq = input->seq,
                         .lengths = lengths_of(*input),
                         .head_dim = input->dim,
                         .compress_block_size = call.attributes.compress_block_size,
                         .compress_stride = call.attributes.compress_stride};
}

void rewrite(CompressCall& call, void (*change)(CompressProblem& problem)) {
  auto problem = problem_of(call);
  if (!problem) return;
  problem->lengths.clear();
  change(*problem);
  call =
      call_of(*problem, call.entry_point, call.product, Striding::contiguous, Striding::contiguous);
}

}  // namespace assay::spec::nsa
