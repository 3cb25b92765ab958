#include "cases.hpp"

#include "assay/conformance/attention/exact_case.hpp"

namespace assay::conformance::exact_case_test {
namespace {

using spec::DType;
using spec::Layout;
using spec::MaskShape;
using spec::Striding;

constexpr DType types[] = {DType::bf16, DType::fp16, DType::fp32};
constexpr Layout layouts[] = {Layout::bnsd, Layout::bsh, Layout::sbh, Layout::bsnd};
constexpr Striding stridings[] = {Striding::contiguous, Striding::padded, Striding::transposed};

struct Dims {
  std::int64_t head_dim, head_dim_v;
};
constexpr Dims dims[] = {{16, 16}, {1, 1}, {40, 24}, {2, 2}, {64, 64},
                         {3, 1},   {8, 8}, {33, 33}, {5, 4}};

struct CaseLengths {
  std::int64_t seq_q, seq_kv;
};
constexpr CaseLengths lengths[] = {{19, 33}, {1, 17}, {33, 19}, {17, 1},
                                   {32, 32}, {7, 70}, {50, 6}};

struct Heads {
  std::int64_t batch, heads_q, heads_kv;
};
constexpr Heads heads[] = {{1, 1, 1}, {1, 4, 2}, {2, 3, 1}, {1, 2, 2}};

struct Masked {
  MaskShape shape;
  std::int64_t mode;
  const char* pattern;
};
constexpr Masked masks[] = {
    {MaskShape::absent, 0, "random"},  {MaskShape::compressed, 2, "random"},
    {MaskShape::ss, 1, "dead_rows"},   {MaskShape::compressed, 3, "random"},
    {MaskShape::bnss, 0, "random"},    {MaskShape::b_one_ss, 1, "causal_right"},
    {MaskShape::one_one_ss, 1, "band"}};

template <class T, std::size_t size>
const T& in_turn(const T (&choices)[size], std::int64_t k) {
  return choices[static_cast<std::size_t>(k) % size];
}

}  // namespace

Case<spec::FlashAttentionScoreGrad> configuration(std::int64_t k, std::uint64_t seed, Track track) {
  Case<spec::FlashAttentionScoreGrad> c{.track = track, .seed = seed};
  auto& p = c.problem;
  p.dtype = in_turn(types, k);
  p.input_layout = in_turn(layouts, k / 3);
  p.batch = in_turn(heads, k / 2).batch;
  p.heads_q = in_turn(heads, k / 2).heads_q;
  p.heads_kv = in_turn(heads, k / 2).heads_kv;
  p.seq_q = in_turn(lengths, k).seq_q;
  p.seq_kv = in_turn(lengths, k).seq_kv;
  p.head_dim = in_turn(dims, k + k / 9).head_dim;
  p.head_dim_v = in_turn(dims, k + k / 9).head_dim_v;
  p.atten_mask = in_turn(masks, k / 5).shape;
  p.sparse_mode = in_turn(masks, k / 5).mode;
  c.patterns.mask = in_turn(masks, k / 5).pattern;
  p.scale_value = exact_case_scale(p, seed + static_cast<std::uint64_t>(k));
  c.inputs = in_turn(stridings, k);
  c.outputs = in_turn(stridings, k / 3);
  return c;
}

Case<spec::FlashAttentionScoreGrad> square(std::int64_t seq, std::int64_t head_dim, Track track) {
  Case<spec::FlashAttentionScoreGrad> c{.track = track};
  c.problem.seq_q = c.problem.seq_kv = seq;
  c.problem.head_dim = c.problem.head_dim_v = head_dim;
  c.problem.scale_value = exact_case_scale(c.problem, 1);
  return c;
}

}  // namespace assay::conformance::exact_case_test
