#include "operators/flash_attention_score_grad/relations/cascade.hpp"
#include "operators/flash_attention_score_grad/relations/problems.hpp"

namespace assay::conformance::flash {
namespace {

using spec::DType;
using spec::MaskShape;
using spec::PseShape;

FlashCase of(const Op::Problem& problem, const char* profile = "normal") {
  FlashCase c{.problem = problem, .surface = surface_of(problem), .track = Track::relation};
  c.relation = cascade_name;
  c.profile = profile;
  return c;
}

Op::Problem banded(Op::Problem p, std::int64_t mode, std::int64_t pre, std::int64_t next) {
  p = with_compressed_mask(std::move(p), mode);
  p.pre_tokens = pre, p.next_tokens = next;
  return p;
}

/// More queries than keys: under mode 3 the first ones are dead.
Op::Problem with_dead_rows(DType dtype) {
  Op::Problem p = with_compressed_mask(padded_problem(dtype), 3);
  std::swap(p.seq_q, p.seq_kv);
  return p;
}

Op::Problem prefixed(Op::Problem p, std::int64_t mode, MaskShape shape) {
  p = with_mask(std::move(p), mode, shape);
  p.prefix = {17, 25};
  return p;
}

std::vector<FlashCase> padded_cases() {
  Op::Problem started =
      with_compressed_mask(with_pse(padded_problem(DType::fp16), 2, PseShape::slopes_bn), 2);
  started.q_start_idx = {3}, started.kv_start_idx = {9};
  FlashCase masked = of(with_mask(padded_problem(DType::fp16), 1, MaskShape::bnss));
  masked.patterns.mask = "dead_rows";
  masked.inputs = masked.outputs = spec::Striding::padded;
  return {of(padded_problem(DType::fp32)),
          of(padded_problem(DType::bf16), "offset"),
          of(with_dropout(padded_problem(DType::fp16), 0.7), "all_positive"),
          masked,
          of(with_dead_rows(DType::fp32), "peaked"),
          of(with_compressed_mask(with_pse(padded_problem(DType::bf16), 1, PseShape::bnss), 2)),
          of(with_pse(padded_problem(DType::fp32), 0, PseShape::one_nss), "outliers"),
          of(banded(with_dropout(padded_problem(DType::bf16), 0.9), 4, 20, 5)),
          of(prefixed(padded_problem(DType::fp16), 5, MaskShape::b_one_ss)),
          of(prefixed(with_dropout(padded_problem(DType::fp32), 0.5), 6, MaskShape::compressed)),
          of(started)};
}

/// A position bias wants every sequence to have a query and a key.
Op::Problem without_empty_sequence(DType dtype) {
  Op::Problem p = ragged_problem(dtype);
  p.lengths_q[1] = 7;
  return p;
}

std::vector<FlashCase> packed_cases() {
  Op::Problem ordered = with_compressed_mask(with_dropout(ragged_problem(DType::fp32), 0.6), 2);
  ordered.softmax_in_layout = spec::StatisticsOrder::same_as_input;
  Op::Problem roped = with_compressed_mask(ragged_problem(DType::bf16), 3);
  roped.head_dim_rope = 8;
  Op::Problem sloped = without_empty_sequence(DType::bf16);
  sloped.lengths_kv = sloped.lengths_q;
  sloped.seq_kv = sloped.seq_q;
  sloped = with_compressed_mask(with_pse(std::move(sloped), 3, PseShape::slopes_n), 2);
  return {of(with_pse(without_empty_sequence(DType::bf16), 0, PseShape::packed_bnss)),
          of(ordered),
          of(roped),
          of(sloped),
          of(banded(ragged_problem(DType::fp16), 7, 47, 0)),
          of(banded(with_dropout(ragged_problem(DType::fp32), 0.8), 8, 47, -2))};
}

}  // namespace

std::vector<FlashCase> cascade_cases() {
  std::vector<FlashCase> cases = padded_cases();
  for (FlashCase& c : packed_cases()) cases.push_back(std::move(c));
  return cases;
}

}  // namespace assay::conformance::flash
