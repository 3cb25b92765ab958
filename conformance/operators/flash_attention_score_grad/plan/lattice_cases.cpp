#include <array>

#include "assay/conformance/attention/lattice.hpp"
#include "operators/flash_attention_score_grad/plan/corners.hpp"

namespace assay::conformance::flash {
namespace {

using Op = spec::FlashAttentionScoreGrad;
using spec::DType;
using spec::FlashSurface;
using spec::Layout;
using spec::MaskShape;
using spec::PseShape;

struct Masking {
  std::int64_t sparse_mode;
  MaskShape shape;
  const char* pattern;
};

FlashCase padded_case(const Masking& mask, Track track, std::size_t turn) {
  constexpr std::int64_t dims[] = {64, 40, 128, 72, 33, 96}, lengths[] = {47, 96, 65, 130, 33};
  FlashCase c{.track = track, .patterns = {.mask = mask.pattern}};
  const std::int64_t dim = dims[turn % 6], seq = lengths[turn % 5];
  c.problem = {.batch = 1 + static_cast<std::int64_t>(turn % 2),
               .heads_q = 4,
               .heads_kv = turn % 3 == 0 ? 1 : 2,
               .seq_q = seq,
               .seq_kv = seq + static_cast<std::int64_t>(turn % 4) * 9 - 9,
               .head_dim = dim,
               .head_dim_v = turn % 5 == 0 ? dim / 2 : dim,
               .sparse_mode = mask.sparse_mode,
               .pre_tokens = mask.sparse_mode == 4 ? seq / 3 : spec::unbounded_tokens,
               .next_tokens = mask.sparse_mode == 4 ? seq / 5 : spec::unbounded_tokens,
               .atten_mask = mask.shape};
  c.surface = turn % 2 == 0 ? spec::FlashSurface::g1 : spec::FlashSurface::g2;
  c.product = turn / 2 % 2 == 0 ? spec::Product::a2 : spec::Product::a3;
  return c;
}

/// Gives the cases seeds and a scale that the lattice takes.
class LatticeCases {
 public:
  explicit LatticeCases(std::uint64_t seed) : seed_(seed) {}
  std::size_t count() const { return cases_.size(); }
  void add(FlashCase c) {
    c.seed = seed_ + cases_.size();
    c.problem.scale_value = lattice_scale(c.problem, c.seed);
    cases_.push_back(std::move(c));
  }
  std::vector<FlashCase> take() { return std::move(cases_); }

 private:
  std::uint64_t seed_;
  std::vector<FlashCase> cases_;
};

void add_padded(LatticeCases& cases, Track track, DType dtype) {
  constexpr Masking maskings[] = {
      {0, MaskShape::absent, "random"},     {0, MaskShape::ss, "dead_rows"},
      {1, MaskShape::bnss, "random"},       {2, MaskShape::compressed, "random"},
      {3, MaskShape::compressed, "random"}, {4, MaskShape::compressed_b_one_ss, "random"},
      {5, MaskShape::b_one_ss, "random"},   {6, MaskShape::compressed, "random"}};
  for (const Masking& mask : maskings) {
    const auto add = [&](FlashCase c, Layout layout) {
      c.problem.input_layout = layout;
      c.problem.dtype = dtype;
      if (mask.sparse_mode >= 5)
        for (std::int64_t b = 0; b < c.problem.batch; ++b)
          c.problem.prefix.push_back(c.problem.seq_kv - b * (c.problem.seq_q / 2));
      cases.add(std::move(c));
    };
    for (const Layout layout : {Layout::bsh, Layout::sbh, Layout::bsnd, Layout::bnsd}) {
      // The prefixes are masks like others: two of the layouts will do.
      if (mask.sparse_mode >= 5 && (layout == Layout::bsh || layout == Layout::bnsd)) continue;
      add(padded_case(mask, track, cases.count()), layout);
    }
    if (mask.sparse_mode < 2 || mask.sparse_mode > 4 || track != Track::a1) continue;
    FlashCase c = padded_case(mask, track, cases.count());
    set_single_head(c.problem, 2200, 2100);
    if (mask.sparse_mode == 4) c.problem.pre_tokens = 900, c.problem.next_tokens = 300;
    c.problem.head_dim = c.problem.head_dim_v = 48;
    add(std::move(c), Layout::bnsd);
  }
}

FlashCase packed_case(const Masking& mask, Track track, std::size_t turn) {
  constexpr FlashSurface surfaces[] = {FlashSurface::u1, FlashSurface::u2, FlashSurface::u4};
  FlashCase c = padded_case(mask, track, turn);
  c.surface = surfaces[turn % 3];
  c.product = spec::Product::a2;
  Op::Problem& p = c.problem;
  p.input_layout = Layout::tnd;
  if (c.surface == FlashSurface::u4) {
    p.head_dim_v = p.head_dim;
    if (turn % 2 == 0) p.softmax_in_layout = spec::StatisticsOrder::same_as_input;
  }
  const std::int64_t seq = p.seq_q;
  // An empty sequence now and then; none has fewer keys than queries, which mode 7 asks for.
  set_lengths(p, {seq, turn % 4 == 0 ? 0 : seq / 2, 19},
              {seq + 9, seq / 2, turn % 5 == 0 ? 19 : 40});
  if (mask.sparse_mode == 6)
    for (std::int64_t b = 0; b < p.batch; ++b) p.prefix.push_back(p.length_kv(b));
  if (mask.sparse_mode == 7) p.pre_tokens = 41, p.next_tokens = 0;
  if (mask.sparse_mode == 8) p.pre_tokens = seq + 10, p.next_tokens = -5;
  return c;
}

void add_packed(LatticeCases& cases, Track track, DType dtype) {
  constexpr Masking maskings[] = {
      {0, MaskShape::absent, "random"},     {0, MaskShape::ss, "dead_rows"},
      {1, MaskShape::one_one_ss, "random"}, {2, MaskShape::compressed_one_one_ss, "random"},
      {3, MaskShape::compressed, "random"}, {4, MaskShape::compressed, "random"},
      {6, MaskShape::compressed, "random"}, {7, MaskShape::compressed, "random"},
      {8, MaskShape::compressed, "random"}};
  for (const Masking& mask : maskings) {
    FlashCase c = packed_case(mask, track, cases.count());
    c.problem.dtype = dtype;
    cases.add(std::move(c));
    if (dtype != DType::bf16 || mask.shape == MaskShape::absent || mask.sparse_mode == 6) continue;
    FlashCase rope = packed_case(mask, track, cases.count());
    rope.surface = FlashSurface::u3;
    rope.product = cases.count() % 2 == 0 ? spec::Product::a2 : spec::Product::a3;
    rope.problem.head_dim = rope.problem.head_dim_v = 64;
    rope.problem.head_dim_rope = cases.count() % 3 == 0 ? 64 : 16;
    rope.problem.softmax_in_layout = spec::StatisticsOrder::packed;
    cases.add(std::move(rope));
  }
}

struct Bias {
  PseShape shape;
  bool packed;
};

/// Every shape that the pages list, padded in both types; of packed sequences the ones in the one,
/// the others in the other.
std::vector<Bias> biases_of_type(std::int64_t type) {
  using enum PseShape;
  std::vector<Bias> biases = {{bnss, false}, {bn1s, false}, {one_nss, false}, {one_nhs, true}};
  if (type == 0)
    biases.insert(biases.end(), {{bnss, true}, {packed_bn1s, true}});
  else
    biases.insert(biases.end(), {{bn1s, true}, {one_nss, true}, {packed_bnss, true}});
  return biases;
}

/// Position bias of the types that a tensor holds, and dropout.
void add_bias_and_dropout(LatticeCases& cases, Track track, DType dtype) {
  constexpr Masking masking = {3, MaskShape::compressed, "random"};
  const auto lengths = [](Op::Problem& p, bool packed) {
    if (packed) {
      set_lengths(p, {47, 30, 19}, {47, 30, 19});
    } else {
      p.seq_kv = p.seq_q;
    }
  };
  for (const std::int64_t type : {0, 1})
    for (const auto& [shape, packed] : biases_of_type(type)) {
      FlashCase c = packed ? packed_case(masking, track, cases.count())
                           : padded_case(masking, track, cases.count());
      c.surface = packed ? FlashSurface::u2 : FlashSurface::g2;
      c.problem.softmax_in_layout = spec::StatisticsOrder::packed;
      lengths(c.problem, packed);
      c.problem.dtype = dtype;
      c.problem.pse_type = type;
      c.problem.pse_shift = shape;
      cases.add(std::move(c));
    }
  for (const auto mask : {spec::DropMask::exact, spec::DropMask::granules})
    for (const bool packed : {false, true}) {
      FlashCase c = packed ? packed_case(masking, track, cases.count())
                           : padded_case(masking, track, cases.count());
      c.problem.dtype = dtype;
      c.problem.keep_prob = mask == spec::DropMask::exact ? 0.5 : 0.25;
      c.problem.drop_mask = mask;
      cases.add(std::move(c));
    }
}

}  // namespace

std::vector<FlashCase> lattice_cases(std::uint64_t seed) {
  LatticeCases cases(seed);
  for (const Track track : {Track::a1, Track::a2})
    for (const DType dtype : {DType::fp16, DType::bf16, DType::fp32}) {
      add_padded(cases, track, dtype);
      add_packed(cases, track, dtype);
      add_bias_and_dropout(cases, track, dtype);
    }
  return cases.take();
}

}  // namespace assay::conformance::flash
