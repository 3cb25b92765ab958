#include <algorithm>
#include <cmath>

#include "assay/conformance/attention/exact_case.hpp"
#include "cases.hpp"

namespace assay::conformance::exact_case_test {
namespace {

using spec::DropMask;
using spec::DType;
using spec::FlashEntryPoint;
using spec::Layout;
using spec::MaskShape;
using spec::PseShape;
using spec::SoftmaxInLayout;
using spec::StatisticsOrder;
using Op = spec::FlashAttentionScoreGrad;
using FlashCase = Case<Op>;
using Lengths = std::vector<std::int64_t>;

struct Feature {
  void (*add)(FlashCase& c);
};

void pack(FlashCase& c, Lengths q, Lengths kv) {
  Op::Problem& p = c.problem;
  c.entry_point = FlashEntryPoint::u2;
  p.input_layout = Layout::tnd;
  p.batch = static_cast<std::int64_t>(q.size());
  p.seq_q = std::ranges::max(q), p.seq_kv = std::ranges::max(kv);
  p.lengths_q = std::move(q), p.lengths_kv = std::move(kv);
}

void uneven(FlashCase& c) { pack(c, {5, 0, 9, 17, 1, 12}, {7, 3, 0, 21, 20, 12}); }

void square_lengths(FlashCase& c) { pack(c, {6, 0, 19, 1, 12}, {6, 0, 19, 1, 12}); }

void mask(FlashCase& c, std::int64_t mode, MaskShape shape = MaskShape::compressed) {
  c.problem.sparse_mode = mode;
  c.problem.atten_mask = shape;
}

void bias(FlashCase& c, std::int64_t type, PseShape shape) {
  if (c.entry_point == FlashEntryPoint::g1) c.entry_point = FlashEntryPoint::g2;
  c.problem.pse_type = type;
  c.problem.pse_shift = shape;
}

void drop(FlashCase& c, int shift, DropMask shape = DropMask::exact) {
  c.problem.keep_prob = std::ldexp(1.0, -shift);
  c.problem.drop_mask = shape;
}

void rope(FlashCase& c, std::int64_t head_dim, std::int64_t head_dim_rope) {
  c.entry_point = FlashEntryPoint::u3;
  c.problem.head_dim = head_dim, c.problem.head_dim_rope = head_dim_rope;
  c.problem.head_dim_v = head_dim;
}

void start(FlashCase& c, std::int64_t query, std::int64_t key) {
  c.problem.q_start_idx = {query}, c.problem.kv_start_idx = {key};
}

constexpr Feature features[] = {
    {[](FlashCase& c) { uneven(c); }},
    {[](FlashCase& c) { uneven(c), mask(c, 1, MaskShape::ss); }},
    {[](FlashCase& c) { uneven(c), mask(c, 2); }},
    {[](FlashCase& c) {
      uneven(c), mask(c, 3), c.entry_point = FlashEntryPoint::u4;
      c.problem.softmax_in_layout = SoftmaxInLayout::same_as_input;
      c.problem.statistics_order = StatisticsOrder::tokens_first;
    }},
    {[](FlashCase& c) { uneven(c), mask(c, 3), c.entry_point = FlashEntryPoint::u4; }},
    {[](FlashCase& c) {
      uneven(c), mask(c, 4), c.problem.pre_tokens = 6, c.problem.next_tokens = 3;
    }},
    {[](FlashCase& c) { uneven(c), mask(c, 6), c.problem.prefix = {4, 3, 0, 12, 20, 1}; }},
    {[](FlashCase& c) {
      pack(c, {7, 5, 0, 12, 0}, {9, 5, 3, 20, 4}), mask(c, 7);
      c.problem.pre_tokens = 20, c.problem.next_tokens = -3;
    }},
    {[](FlashCase& c) {
      pack(c, {0, 8, 0, 12, 9}, {4, 11, 3, 12, 15}), mask(c, 8);
      c.problem.pre_tokens = 11, c.problem.next_tokens = 2;
    }},
    {[](FlashCase& c) {
      mask(c, 5, MaskShape::b_one_ss), c.problem.batch = 2, c.problem.prefix = {3, 7};
    }},
    {[](FlashCase& c) {
      mask(c, 6), c.problem.batch = 3, c.problem.seq_kv = 30, c.problem.prefix = {9, 30, 20};
    }},
    {[](FlashCase& c) { drop(c, 1), c.problem.batch = 2; }},
    {[](FlashCase& c) { drop(c, 4, DropMask::granules), mask(c, 3); }},
    {[](FlashCase& c) { uneven(c), drop(c, 2, DropMask::granules), mask(c, 2); }},
    {[](FlashCase& c) { uneven(c), drop(c, 3), bias(c, 1, PseShape::packed_bn1s); }},
    {[](FlashCase& c) { bias(c, 1, PseShape::bnss), c.problem.batch = 2; }},
    {[](FlashCase& c) { bias(c, 0, PseShape::bnss), mask(c, 2); }},
    {[](FlashCase& c) { bias(c, 1, PseShape::bn1s), c.problem.batch = 2, mask(c, 3); }},
    {[](FlashCase& c) { bias(c, 0, PseShape::bn1s), c.problem.batch = 2; }},
    {[](FlashCase& c) { bias(c, 1, PseShape::one_nss), c.problem.batch = 3; }},
    {[](FlashCase& c) {
      bias(c, 0, PseShape::one_nss), c.problem.batch = 2, mask(c, 1, MaskShape::bnss);
    }},
    {[](FlashCase& c) { uneven(c), bias(c, 0, PseShape::packed_bnss), mask(c, 3); }},
    {[](FlashCase& c) { square_lengths(c), bias(c, 1, PseShape::bnhs), mask(c, 2); }},
    {[](FlashCase& c) { square_lengths(c), bias(c, 0, PseShape::one_nhs), mask(c, 3); }},
    {[](FlashCase& c) { bias(c, 2, PseShape::slopes_n), c.problem.batch = 2, mask(c, 2); }},
    {[](FlashCase& c) {
      bias(c, 2, PseShape::slopes_bn), c.problem.batch = 2, start(c, 5, 8);
      c.problem.head_dim = c.problem.head_dim_v = 32;
    }},
    {[](FlashCase& c) {
      bias(c, 2, PseShape::slopes_bn), mask(c, 3), start(c, 100, 3);
      c.problem.head_dim = c.problem.head_dim_v = 40;
    }},
    {[](FlashCase& c) {
      bias(c, 2, PseShape::slopes_bn), c.problem.batch = 2, c.problem.heads_q = 8;
      c.problem.head_dim = c.problem.head_dim_v = 16;
    }},
    {[](FlashCase& c) { bias(c, 3, PseShape::slopes_n), c.problem.batch = 2; }},
    {[](FlashCase& c) {
      square_lengths(c), bias(c, 3, PseShape::slopes_n), c.problem.heads_q = 8;
      c.problem.head_dim = c.problem.head_dim_v = 24;
    }},
    {[](FlashCase& c) {
      square_lengths(c), bias(c, 3, PseShape::slopes_bn), start(c, 0, 4);
      c.problem.head_dim = c.problem.head_dim_v = 24;
    }},
    {[](FlashCase& c) {
      pack(c, {8, 0, 16, 12}, {14, 0, 16, 12}), mask(c, 8), bias(c, 2, PseShape::slopes_n);
      start(c, 10, 4), c.problem.pre_tokens = 14, c.problem.next_tokens = 0;
      c.problem.head_dim = c.problem.head_dim_v = 32;
    }},
    {[](FlashCase& c) { uneven(c), mask(c, 2), rope(c, 24, 8); }},
    {[](FlashCase& c) { uneven(c), mask(c, 3), rope(c, 16, 40); }},
};

}  // namespace

std::vector<FlashCase> family(std::uint64_t seed, Track track) {
  constexpr DType types[] = {DType::bf16, DType::fp16, DType::fp32};
  constexpr spec::Striding stridings[] = {spec::Striding::contiguous, spec::Striding::padded,
                                          spec::Striding::transposed};
  std::vector<FlashCase> cases;
  for (const Feature& feature : features) {
    const std::size_t k = cases.size(), turn = seed + k;
    FlashCase c{.track = track, .seed = seed + k % 8};
    Op::Problem& p = c.problem;
    p.dtype = types[(turn / 2) % 3];
    p.seq_q = p.seq_kv = 22;
    p.heads_q = 4, p.heads_kv = 2;
    p.head_dim = turn % 2 == 0 ? 16 : 33;
    p.head_dim_v = turn % 2 == 0 ? 16 : 20;
    c.inputs = stridings[k % 3], c.outputs = stridings[(k / 2) % 3];
    feature.add(c);
    if (p.head_dim_rope > 0) p.dtype = DType::bf16;
    p.scale_value = exact_case_scale(p, turn);
    cases.push_back(c);
  }
  return cases;
}

}  // namespace assay::conformance::exact_case_test
