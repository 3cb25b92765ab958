#include "attention/plan/choices.hpp"
#include "operators/flash_attention_score_grad/plan/sampling.hpp"
#include "plan/breaking_calls.hpp"
#include "plan/varied_calls.hpp"

namespace assay::conformance::attention::flash {
namespace {

using Op = spec::FlashAttentionScoreGrad;
using spec::DType;
using spec::MaskShape;

/// A mask of a sparse mode, with its window and prefix.
struct Masking {
  std::int64_t sparse_mode = 0;
  MaskShape shape = MaskShape::absent;
};

void put_mask(Op::Problem& p, const Masking& mask) {
  p.sparse_mode = mask.sparse_mode;
  p.atten_mask = mask.shape;
  if (mask.sparse_mode == 7) p.next_tokens = 0;
  if (mask.sparse_mode == 5 || mask.sparse_mode == 6)
    for (std::int64_t b = 0; b < p.batch; ++b) p.prefix.push_back(p.length_kv(b));
}

/// Returns an ordinary call; layout, type and lengths change with `turn`.
Op::Problem ordinary_problem(spec::FlashEntryPoint entry_point, std::size_t turn) {
  constexpr spec::Layout layouts[] = {spec::Layout::bnsd, spec::Layout::bsh, spec::Layout::bsnd,
                                      spec::Layout::sbh};
  constexpr DType dtypes[] = {DType::bf16, DType::fp16, DType::fp32};
  Op::Problem p{.input_layout = layouts[turn % 4],
                .dtype = dtypes[turn % 3],
                .batch = 2,
                .heads_q = 4,
                .heads_kv = 2,
                .seq_q = 24,
                .seq_kv = turn % 2 == 0 ? 24 : 40,
                .head_dim = 32,
                .head_dim_v = turn % 3 == 1 && !has_softmax_in_layout(entry_point) ? 16 : 32,
                .scale_value = attention::ordinary_scale(32)};
  if (!is_unpadding(entry_point)) return p;
  p.input_layout = spec::Layout::tnd;
  p.batch = 3;
  if (turn % 2 != 0) {
    p.lengths_q = {24, 7, 16};
    p.lengths_kv = {31, 40, 16};
  }
  if (has_rope(entry_point)) {
    p.dtype = DType::bf16;
    p.head_dim_rope = 16;
  }
  return p;
}

std::vector<Masking> maskings(spec::FlashEntryPoint entry_point) {
  constexpr auto compressed = MaskShape::compressed;
  std::vector<Masking> masks = {{0, MaskShape::ss},
                                {1, MaskShape::one_one_ss},
                                {2, compressed},
                                {3, compressed},
                                {4, compressed}};
  if (!has_rope(entry_point)) masks.insert(masks.end(), {{0, MaskShape::absent}, {6, compressed}});
  if (is_unpadding(entry_point))
    masks.insert(masks.end(), {{7, compressed}, {8, compressed}});
  else
    masks.insert(masks.end(),
                 {{0, MaskShape::b_one_ss}, {1, MaskShape::bnss}, {5, MaskShape::b_one_ss}});
  return masks;
}

/// Returns problems with bias and dropout, as far as the entry point accepts them.
std::vector<Op::Problem> with_inputs_of_scores(spec::FlashEntryPoint entry_point) {
  if (has_rope(entry_point)) return {};
  Op::Problem biased = ordinary_problem(entry_point, is_unpadding(entry_point) ? 0 : 1);
  biased.pse_shift = spec::PseShape::one_nss;
  if (is_unpadding(entry_point)) {
    // The one form of bias that the pages list and the host code accepts, too; it requires a causal
    // mask.
    biased.pse_shift = spec::PseShape::one_nhs;
    put_mask(biased, {3, MaskShape::compressed});
  }
  Op::Problem dropped = ordinary_problem(entry_point, 2);
  dropped.keep_prob = 0.5;
  dropped.drop_mask = spec::DropMask::granules;
  if (!has_pse_type(entry_point)) return {biased, dropped};
  Op::Problem sloped = ordinary_problem(entry_point, 4);
  sloped.dtype = DType::fp32;  // the type of slopes on which page and upstream agree
  sloped.pse_type = 2;
  sloped.pse_shift = spec::PseShape::slopes_bn;
  return {biased, dropped, sloped};
}

/// Returns legal calls of an entry point that cover all conditions of requirements.
std::vector<FlashCase> legal_calls(spec::FlashEntryPoint entry_point) {
  std::vector<FlashCase> calls;
  const auto add = [&](const Op::Problem& problem) {
    FlashCase c{.entry_point = entry_point, .track = Track::arguments};
    c.problem = problem;
    calls.push_back(c);
  };
  std::size_t turn = 0;
  for (const std::size_t round : {0, 1})
    for (const Masking& mask : maskings(entry_point)) {
      Op::Problem problem = ordinary_problem(entry_point, round + turn++);
      put_mask(problem, mask);
      add(problem);
    }
  for (const Op::Problem& problem : with_inputs_of_scores(entry_point)) add(problem);
  return calls;
}

std::vector<std::vector<FlashCase>> legal_calls_of_each_entry_point() {
  std::vector<std::vector<FlashCase>> calls;
  for (const auto& [entry_point, name] : spec::spellings_of<spec::FlashEntryPoint>.entries)
    calls.push_back(legal_calls(entry_point));
  return calls;
}

}  // namespace

std::vector<FlashCase> violation_cases() {
  return breaking_cases(legal_calls_of_each_entry_point());
}

std::vector<FlashCase> variant_cases() { return varied_cases(legal_calls_of_each_entry_point()); }

}  // namespace assay::conformance::attention::flash
