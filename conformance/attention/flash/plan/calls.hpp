#pragma once

#include <cstddef>
#include <vector>

#include "attention/flash/traits.hpp"
#include "attention/plan/choices.hpp"
#include "plan/breaking_calls.hpp"
#include "plan/varied_calls.hpp"

/// Generates legal calls, and illegal calls that violate one requirement.
namespace assay::conformance::attention::flash {

/// A combination of sparse mode, mask shape, window and prefix.
struct Masking {
  std::int64_t sparse_mode = 0;
  spec::MaskShape shape = spec::MaskShape::absent;
};

inline void put_mask(Problem& p, const Masking& mask) {
  p.sparse_mode = mask.sparse_mode;
  p.atten_mask = mask.shape;
  if (mask.sparse_mode == 7) p.next_tokens = 0;
  if (mask.sparse_mode == 5 || mask.sparse_mode == 6)
    for (std::int64_t b = 0; b < p.batch; ++b) p.prefix.push_back(p.length_kv(b));
}

/// Returns an ordinary legal problem. Layout, type and lengths depend on `turn`.
template <class EntryPoint>
Problem ordinary_problem(EntryPoint entry_point, std::size_t turn) {
  using spec::DType;
  constexpr spec::Layout layouts[] = {spec::Layout::bnsd, spec::Layout::bsh, spec::Layout::bsnd,
                                      spec::Layout::sbh};
  constexpr DType dtypes[] = {DType::bf16, DType::fp16, DType::fp32};
  Problem p{.input_layout = layouts[turn % 4],
            .dtype = dtypes[turn % 3],
            .batch = 2,
            .heads_q = 4,
            .heads_kv = 2,
            .seq_q = 24,
            .seq_kv = turn % 2 == 0 ? 24 : 40,
            .head_dim = 32,
            .head_dim_v = turn % 3 == 1 && !has_softmax_in_layout(entry_point) ? 16 : 32,
            .scale_value = attention::ordinary_scale(32)};
  if (!takes_fp32(entry_point) && p.dtype == DType::fp32) p.dtype = DType::bf16;
  if (!is_unpadding(entry_point)) return p;
  p.input_layout = spec::Layout::tnd;
  p.batch = 3;
  if (turn % 2 != 0) {
    p.lengths_q = {24, 7, 16};
    p.lengths_kv = {31, 40, 16};
  }
  if (requires_rope(entry_point)) {
    p.dtype = DType::bf16;
    p.head_dim_rope = 16;
  }
  return p;
}

template <class EntryPoint>
std::vector<Masking> maskings(EntryPoint entry_point) {
  constexpr auto compressed = spec::MaskShape::compressed;
  std::vector<Masking> masks = {{0, spec::MaskShape::ss},
                                {1, spec::MaskShape::one_one_ss},
                                {2, compressed},
                                {3, compressed},
                                {4, compressed}};
  if (!requires_rope(entry_point))
    masks.insert(masks.end(), {{0, spec::MaskShape::absent}, {6, compressed}});
  if (is_unpadding(entry_point))
    masks.insert(masks.end(), {{7, compressed}, {8, compressed}});
  else
    masks.insert(masks.end(), {{0, spec::MaskShape::b_one_ss},
                               {1, spec::MaskShape::bnss},
                               {5, spec::MaskShape::b_one_ss}});
  return masks;
}

/// Returns problems with a position bias or dropout, if the entry point accepts them. `last_rows`:
/// whether the documentation allows a bias of 1024 rows for short packed sequences.
template <class EntryPoint>
std::vector<Problem> with_inputs_of_scores(EntryPoint entry_point, bool last_rows) {
  if (requires_rope(entry_point)) return {};
  Problem biased = ordinary_problem(entry_point, is_unpadding(entry_point) ? 0 : 1);
  biased.pse_shift = spec::PseShape::one_nss;
  if (is_unpadding(entry_point)) {
    // For packed sequences, the documentation and the host code agree only on one form of the bias,
    // and this form requires a causal mask.
    biased.pse_shift = last_rows ? spec::PseShape::one_nhs : spec::PseShape::packed_bnss;
    put_mask(biased, {3, spec::MaskShape::compressed});
  }
  Problem dropped = ordinary_problem(entry_point, 2);
  dropped.keep_prob = 0.5;
  dropped.drop_mask = spec::DropMask::granules;
  if (!has_pse_type(entry_point)) return {biased, dropped};
  Problem sloped = ordinary_problem(entry_point, 4);
  // Uses the element type of the slopes on which the documentation and the vendor's code agree.
  if (takes_fp32(entry_point)) sloped.dtype = spec::DType::fp32;
  sloped.pse_type = 2;
  sloped.pse_shift = spec::PseShape::slopes_bn;
  return {biased, dropped, sloped};
}

/// Returns legal calls of an entry point. Each condition of a requirement is true in at least one
/// of these calls.
template <class Op>
std::vector<Case<Op>> legal_calls(typename Op::EntryPoint entry_point) {
  std::vector<Case<Op>> calls;
  const auto add = [&](const Problem& problem) {
    Case<Op> c{.entry_point = entry_point, .track = Track::arguments};
    c.problem = problem;
    calls.push_back(c);
  };
  std::size_t turn = 0;
  for (const std::size_t round : {0, 1})
    for (const Masking& mask : maskings(entry_point)) {
      Problem problem = ordinary_problem(entry_point, round + turn++);
      put_mask(problem, mask);
      if (has_sink(entry_point) && round == 0) problem.sink = spec::SinkShape::per_head;
      add(problem);
      if (!has_rope(entry_point) || requires_rope(entry_point) || problem.prefix.size() != 0 ||
          problem.atten_mask == spec::MaskShape::absent)
        continue;
      problem.dtype = spec::DType::bf16;  // with ropes, which this entry point does not require
      problem.head_dim_v = problem.head_dim, problem.head_dim_rope = 16;
      add(problem);
    }
  for (const Problem& problem : with_inputs_of_scores(entry_point, !is_forward<Op>)) add(problem);
  return calls;
}

/// Returns the legal calls of the entry points without a sink. sinks.hpp generates the calls with a
/// sink.
template <class Op>
std::vector<std::vector<Case<Op>>> legal_calls_of_each_entry_point() {
  std::vector<std::vector<Case<Op>>> calls;
  for (const auto& [entry_point, name] : spec::spellings_of<typename Op::EntryPoint>.entries)
    if (!has_sink(entry_point)) calls.push_back(legal_calls<Op>(entry_point));
  return calls;
}

/// Returns whether the requirement applies to an entry point without a sink.
template <class Op>
bool is_of_sinkless_calls(const spec::Requirement<Op>& requirement) {
  return !requirement.id.starts_with("SNK");
}

/// Returns illegal calls for the requirements that a kernel must enforce. Each possible violation
/// has one call for each entry point on which it is possible. A call violates one requirement and
/// those that it implies, but no other. Errors: std::logic_error with the name of a requirement for
/// which no such call was found.
template <class Op>
std::vector<Case<Op>> violation_cases() {
  return breaking_cases<Op>(legal_calls_of_each_entry_point<Op>(), is_of_sinkless_calls<Op>);
}

/// Returns numerically judged cases for every variant of a requirement (another legal form of the
/// call). Each variant has one case for each entry point whose documentation contains the
/// requirement, and one case for another entry point; this last one changes from variant to
/// variant.
template <class Op>
std::vector<Case<Op>> variant_cases() {
  return varied_cases<Op>(legal_calls_of_each_entry_point<Op>());
}

}  // namespace assay::conformance::attention::flash
