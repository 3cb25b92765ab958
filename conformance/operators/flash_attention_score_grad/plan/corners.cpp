#include "operators/flash_attention_score_grad/plan/corners.hpp"

#include <tuple>

namespace assay::conformance::flash {
namespace {

using Op = spec::FlashAttentionScoreGrad;
using spec::DType;
using spec::MaskShape;

void add_extents(Corners& corners) {
  corners.add("the smallest problem", [](FlashCase& c) {
    set_single_head(c.problem, 1, 1);
    set_dim(c.problem, 1, 1);
  });
  for (const std::int64_t batch : {1, 37})
    corners.add("batch", [=](FlashCase& c) {
      c.problem.batch = batch;
      c.problem.seq_q = c.problem.seq_kv = 17;
    });
  for (const std::int64_t heads_kv : {1, 256})
    corners.add("256 heads, the most there are", [=](FlashCase& c) {
      c.problem.batch = 1;
      c.problem.heads_q = 256;
      c.problem.heads_kv = heads_kv;
      c.problem.seq_q = c.problem.seq_kv = 9;
      set_dim(c.problem, 8, 8);
    });
  for (const std::int64_t seq : {15, 16, 17, 63, 64, 65, 127, 128, 129, 511, 513})
    corners.add("lengths at a tile edge", [=](FlashCase& c) {
      set_single_head(c.problem, seq, seq + 1);
      c.problem.seq_kv = seq % 2 == 0 ? seq : seq + 1;
    });
  for (const std::int64_t head_dim : {1, 2, 3, 7, 15, 17, 71, 127, 511, 512})
    corners.add("head size", [=](FlashCase& c) {
      c.problem.batch = 1;
      set_dim(c.problem, head_dim, head_dim);
    });
  for (const std::int64_t head_dim : {128, 192, 512})
    corners.add("large head size beyond one tile of queries and keys", [=](FlashCase& c) {
      set_single_head(c.problem, 150, 140);
      set_dim(c.problem, head_dim, head_dim == 192 ? 128 : head_dim);
    });
  for (const auto surface : {spec::FlashSurface::g1, spec::FlashSurface::g2})
    for (const std::int64_t head_dim : {513, 768})
      corners.add("a head size that some pages exclude", [=](FlashCase& c) {
        c.surface = surface;
        set_single_head(c.problem, 24, 40);
        set_dim(c.problem, head_dim, head_dim);
      });
  corners.add("the narrowest value", [](FlashCase& c) { c.problem.head_dim_v = 1; });
}

void add_attributes(Corners& corners) {
  for (const double scale : {0.0, 1.0, -1.0, 0x1p-20, 3.0})
    corners.add("scale_value", [=](FlashCase& c) { c.problem.scale_value = scale; });
  const auto masked = [&](std::int64_t pre, std::int64_t next) {
    corners.add("window of mode 0", [=](FlashCase& c) {
      c.problem.atten_mask = MaskShape::ss;
      c.patterns.mask = "open";
      c.problem.pre_tokens = pre;
      c.problem.next_tokens = next;
    });
  };
  masked(0, 0);
  masked(spec::unbounded_tokens, 0);
  masked(0, spec::unbounded_tokens);
  masked(39, -39);
  masked(-39, 39);
  masked(65536, 65536);
  corners.add("windows mean nothing in mode 1", [](FlashCase& c) {
    c.problem.sparse_mode = 1;
    c.problem.atten_mask = MaskShape::bnss;
    c.problem.pre_tokens = c.problem.next_tokens = -spec::unbounded_tokens;
  });
}

/// Bands of mode 4, whose tokens count from the lower right corner.
void add_bands(Corners& corners) {
  const auto band = [&](std::int64_t seq_q, std::int64_t seq_kv, std::int64_t pre,
                        std::int64_t next) {
    corners.add("a band", [=](FlashCase& c) {
      set_single_head(c.problem, seq_q, seq_kv);
      set_dim(c.problem, 32, 32);
      c.problem.sparse_mode = 4;
      c.problem.atten_mask = MaskShape::compressed;
      c.problem.pre_tokens = pre;
      c.problem.next_tokens = next;
    });
  };
  band(13, 16, 6, 4);
  band(150, 150, 0, 0);
  band(150, 200, 20, -10);
  band(200, 150, -10, 40);
  band(97, 300, 130, 0);
  band(300, 97, spec::unbounded_tokens, spec::unbounded_tokens);
}

/// Prefixes at the ends of their range; without one and with fewer keys than queries rows are dead.
void add_prefixes(Corners& corners) {
  for (const std::int64_t mode : {5, 6})
    for (const auto& [seq_q, seq_kv, prefix] :
         {std::tuple{48, 32, 0}, std::tuple{48, 32, 32}, std::tuple{32, 48, 16},
          std::tuple{32, 48, 48}, std::tuple{40, 40, 1}})
      corners.add("the end of a prefix's range", [=](FlashCase& c) {
        c.problem.seq_q = seq_q;
        c.problem.seq_kv = seq_kv;
        c.problem.prefix = {prefix, seq_kv};
        c.problem.sparse_mode = mode;
        c.problem.atten_mask = mode == 6 ? MaskShape::compressed : MaskShape::b_one_ss;
      });
  for (const auto shape : {MaskShape::ss, MaskShape::bnss})
    corners.add("sparse mode 5 without a prefix is a mask like any other", [=](FlashCase& c) {
      c.problem.sparse_mode = 5;
      c.problem.atten_mask = shape;
    });
  corners.add("a prefix that nothing reads", [](FlashCase& c) { c.problem.prefix = {0}; });
}

/// Compressed masks are 2048 wide, sequences need not be.
void add_long(Corners& corners) {
  const auto causal = [&](std::int64_t mode, std::int64_t seq_q, std::int64_t seq_kv) {
    corners.add("a compressed mask for sequences beyond 2048", [=](FlashCase& c) {
      set_single_head(c.problem, seq_q, seq_kv);
      set_dim(c.problem, 16, 16);
      c.problem.sparse_mode = mode;
      c.problem.atten_mask = MaskShape::compressed;
      c.rows = rows_of_long_cases;
    });
  };
  corners.add("a band beyond 2048", [=](FlashCase& c) {
    set_single_head(c.problem, 2300, 2500);
    set_dim(c.problem, 16, 16);
    c.problem.sparse_mode = 4;
    c.problem.atten_mask = MaskShape::compressed;
    c.problem.pre_tokens = 700;
    c.problem.next_tokens = 150;
    c.rows = rows_of_long_cases;
  });
  causal(2, 2049, 2049);
  causal(3, 2100, 3000);
  causal(3, 3000, 2100);
  corners.add("a prefix beyond 2048", [](FlashCase& c) {
    set_single_head(c.problem, 2100, 2400);
    set_dim(c.problem, 16, 16);
    set_compressed(c.problem, 6);
    c.problem.prefix = {2200};
    c.rows = rows_of_long_cases;
  });
  for (const bool one_query : {true, false})
    corners.add("one long side", [=](FlashCase& c) {
      set_single_head(c.problem, one_query ? 1 : 8193, one_query ? 8193 : 1);
      set_dim(c.problem, 64, 64);
    });
  corners.add("a long dense head", [](FlashCase& c) {
    set_single_head(c.problem, 1025, 1023);
    set_dim(c.problem, 96, 64);
    c.rows = rows_of_long_cases;
  });
}

void add_degenerate(Corners& corners) {
  corners.add("no query: dk and dv are zero", [](FlashCase& c) { c.problem.seq_q = 0; });
  corners.add("no key: dq is zero", [](FlashCase& c) { c.problem.seq_kv = 0; });
  corners.add("every row dead: all gradients are zero", [](FlashCase& c) {
    c.problem.atten_mask = MaskShape::bnss;
    c.patterns.mask = "all_dead";
  });
  corners.add("dS of one row overflows in fp16", [](FlashCase& c) {
    c.problem.dtype = DType::fp16;
    set_single_head(c.problem, 512, 384);
    set_dim(c.problem, 64, 64);
    c.profile = "overflow_fp16";
  });
}

/// Extents that no tensor here can have, but a call.
void add_calls(Corners& corners) {
  const auto call = [&](const std::string& note, std::int64_t Op::Problem::*field,
                        std::int64_t value) {
    corners.add(note, [=](FlashCase& c) {
      c.track = Track::phase1;
      c.problem.*field = value;
    });
  };
  call("no batch: every gradient is empty", &Op::Problem::batch, 0);
  call("the largest batch", &Op::Problem::batch, 2 * 1024 * 1024);
  call("the longest query", &Op::Problem::seq_q, 1024 * 1024);
  call("the longest key", &Op::Problem::seq_kv, 1024 * 1024);
}

}  // namespace

namespace {

FlashCase small_case() {
  FlashCase c;
  c.problem = {.batch = 2,
               .heads_q = 4,
               .heads_kv = 2,
               .seq_q = 40,
               .seq_kv = 48,
               .head_dim = 32,
               .head_dim_v = 32,
               .scale_value = ordinary_scale(32)};
  return c;
}

}  // namespace

void Corners::add(const std::string& note, const Change& change) {
  constexpr spec::Layout layouts[] = {spec::Layout::bnsd, spec::Layout::bsh, spec::Layout::bsnd,
                                      spec::Layout::sbh};
  FlashCase c = small_case();
  c.problem.input_layout = layouts[cases_.size() % 4];
  c.surface = cases_.size() % 2 == 0 ? spec::FlashSurface::g1 : spec::FlashSurface::g2;
  c.product = cases_.size() / 2 % 2 == 0 ? spec::Product::a2 : spec::Product::a3;
  keep(std::move(c), note, change);
}

void Corners::add_packed(const std::string& note, const Change& change) {
  constexpr spec::FlashSurface surfaces[] = {spec::FlashSurface::u1, spec::FlashSurface::u2,
                                             spec::FlashSurface::u4};
  FlashCase c = small_case();
  c.problem.input_layout = spec::Layout::tnd;
  set_lengths(c.problem, {40, 17, 33}, {48, 33, 33});
  c.surface = surfaces[cases_.size() / 3 % 3];
  if (c.surface == spec::FlashSurface::u4 && cases_.size() % 2 == 0)
    c.problem.softmax_in_layout = spec::StatisticsOrder::same_as_input;
  keep(std::move(c), note, change);
}

void Corners::keep(FlashCase c, const std::string& note, const Change& change) {
  constexpr spec::DType dtypes[] = {spec::DType::bf16, spec::DType::fp32, spec::DType::fp16};
  c.problem.dtype = dtypes[cases_.size() % 3];
  c.seed = seed_ + cases_.size();
  c.note = note;
  change(c);
  cases_.push_back(std::move(c));
}

void set_dim(Op::Problem& p, std::int64_t head_dim, std::int64_t head_dim_v) {
  p.head_dim = head_dim;
  p.head_dim_v = head_dim_v;
  p.scale_value = ordinary_scale(head_dim);
}

void set_single_head(Op::Problem& p, std::int64_t seq_q, std::int64_t seq_kv) {
  p.batch = p.heads_q = p.heads_kv = 1;
  p.seq_q = seq_q;
  p.seq_kv = seq_kv;
  p.lengths_q.clear();
  p.lengths_kv.clear();
}

void set_compressed(Op::Problem& p, std::int64_t sparse_mode) {
  p.sparse_mode = sparse_mode;
  p.atten_mask = MaskShape::compressed;
}

void set_rope(FlashCase& c, std::int64_t head_dim_rope) {
  c.surface = spec::FlashSurface::u3;
  c.problem.dtype = DType::bf16;
  c.problem.softmax_in_layout = spec::StatisticsOrder::packed;
  c.problem.head_dim_rope = head_dim_rope;
  set_compressed(c.problem, 3);
}

std::vector<FlashCase> corner_cases(std::uint64_t seed) {
  Corners corners(seed);
  add_extents(corners);
  add_attributes(corners);
  add_bands(corners);
  add_prefixes(corners);
  add_long(corners);
  add_degenerate(corners);
  add_packed_corners(corners);
  add_pse_corners(corners);
  add_dropout_corners(corners);
  add_rope_corners(corners);
  add_calls(corners);
  return corners.take();
}

}  // namespace assay::conformance::flash
