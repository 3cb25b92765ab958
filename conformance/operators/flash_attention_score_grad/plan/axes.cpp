#include "assay/conformance/plan/coverage.hpp"
#include "assay/conformance/plan/sizes.hpp"
#include "operators/flash_attention_score_grad/plan/factors.hpp"

namespace assay::conformance::flash {
namespace {

using Op = spec::FlashAttentionScoreGrad;

/// Sequences from which on a case counts as one of many.
constexpr std::int64_t many_sequences = 16;

Pse pse_of(const Op::Problem& p) {
  if (p.pse_shift == spec::PseShape::absent) return Pse::absent;
  return static_cast<Pse>(static_cast<std::int64_t>(Pse::type_0) + p.pse_type);
}

Dropout dropout_of(const Op::Problem& p) {
  if (!p.has_dropout() || p.drop_mask == spec::DropMask::absent) return Dropout::off;
  return p.drop_mask == spec::DropMask::exact ? Dropout::exact : Dropout::granules;
}

Group group_of(const Op::Problem& p) {
  if (p.heads_q == p.heads_kv) return Group::one;
  return p.heads_kv == 1 ? Group::all : Group::some;
}

HeadDim head_dim_of(const Op::Problem& p) {
  if (p.head_dim > 512) return HeadDim::widest;
  if (p.head_dim > 128) return HeadDim::wide;
  if (p.head_dim < 16) return HeadDim::small;
  if (p.head_dim % 16 == 0) return HeadDim::tiles;
  return p.head_dim % 8 == 0 ? HeadDim::eights : HeadDim::odd;
}

Lengths uniform_lengths_of(std::int64_t seq_q, std::int64_t seq_kv) {
  if (seq_q == 0 || seq_kv == 0)
    return seq_q != 0 ? Lengths::empty_kv : seq_kv != 0 ? Lengths::empty_q : Lengths::empty_both;
  if (seq_q == seq_kv) return Lengths::equal;
  if (seq_q == 1) return Lengths::one_query;
  if (seq_kv == 1) return Lengths::one_key;
  return seq_q < seq_kv ? Lengths::shorter_q : Lengths::longer_q;
}

Lengths packed_lengths_of(const Op::Problem& p) {
  bool empty_q = false, empty_kv = false, alike = true, paired = true;
  for (std::int64_t b = 0; b < p.batch; ++b) {
    empty_q |= p.length_q(b) == 0;
    empty_kv |= p.length_kv(b) == 0;
    alike &= p.length_q(b) == p.length_q(0) && p.length_kv(b) == p.length_kv(0);
    paired &= p.length_q(b) == p.length_kv(b);
  }
  if (empty_q && empty_kv) return Lengths::empty_both;
  if (empty_q || empty_kv) return empty_q ? Lengths::empty_q : Lengths::empty_kv;
  if (p.batch >= many_sequences) return Lengths::many;
  if (p.batch == 1) return Lengths::single;
  if (alike) return uniform_lengths_of(p.length_q(0), p.length_kv(0));
  return paired ? Lengths::paired : Lengths::unequal;
}

Lengths lengths_of(const Op::Problem& p) {
  return p.input_layout == spec::Layout::tnd ? packed_lengths_of(p)
                                             : uniform_lengths_of(p.seq_q, p.seq_kv);
}

template <class Value>
std::size_t position(Value value) {
  return static_cast<std::size_t>(value);
}

}  // namespace

// The tables of the factors list the enumerators of each type in their order.
Choice axes_of(const FlashCase& c) {
  const Op::Problem& p = c.problem;
  Choice choice(factor_count, undecided);
  choice[surface] = position(c.surface);
  choice[product] = position(c.product);
  choice[layout] = position(p.input_layout);
  choice[dtype] = position(p.dtype) - position(spec::DType::fp16);
  choice[sparse_mode] = position(p.sparse_mode);
  choice[pse] = position(pse_of(p));
  choice[mask] = position(p.atten_mask);
  choice[dropout] = position(dropout_of(p));
  choice[group] = position(group_of(p));
  choice[head_dim] = position(head_dim_of(p));
  choice[lengths] = position(lengths_of(p));
  choice[inputs] = position(c.inputs);
  choice[outputs] = position(c.outputs);
  return choice;
}

const Axes& axes() {
  static const Axes all{
      .operator_name = Op::name,
      .space = choice_space(),
      .count = axis_count,
      .name = [](std::size_t axis) { return name_of(static_cast<Factor>(axis)); },
      .value = [](std::size_t axis,
                  std::size_t value) { return name_of(static_cast<Factor>(axis), value); }};
  return all;
}

}  // namespace assay::conformance::flash

namespace assay::conformance {

const Axes* Suite<spec::FlashAttentionScoreGrad>::axes() { return &flash::axes(); }

Choice Suite<spec::FlashAttentionScoreGrad>::choice_of(const Case<Op>& c) {
  return flash::axes_of(c);
}

std::vector<Size> Suite<spec::FlashAttentionScoreGrad>::sizes(const Case<Op>& c) {
  constexpr std::int64_t of_16_bits = 0xffff, of_20_bits = 0xfffff, of_24_bits = 0xffffff;
  const auto& p = c.problem;
  const std::int64_t scores = spec::score_count(p);
  const std::int64_t tokens = std::max(query_extents(p).tokens(), key_extents(p).tokens());
  std::vector<Size> sizes = {{"head_dim", p.head_dim},        {"head_dim_v", p.head_dim_v},
                             {"heads of a group", p.group()}, {"sequences", p.batch},
                             {"tokens", tokens, of_16_bits},  {"scores", scores, of_24_bits}};
  if (p.has_dropout()) sizes.push_back({"bits of dropout", scores, of_20_bits});
  const auto add_end = [&](std::int64_t end) {
    if (end > 0 && end < std::max(p.seq_q, p.seq_kv)) sizes.push_back({"end of a window", end});
  };
  if (p.atten_mask != spec::MaskShape::absent && (p.sparse_mode == 0 || p.sparse_mode == 4))
    add_end(p.pre_tokens), add_end(p.next_tokens);
  if (p.atten_mask != spec::MaskShape::absent && (p.sparse_mode == 5 || p.sparse_mode == 6))
    for (const std::int64_t prefix : p.prefix) sizes.push_back({"prefix", prefix});
  return sizes;
}

}  // namespace assay::conformance
