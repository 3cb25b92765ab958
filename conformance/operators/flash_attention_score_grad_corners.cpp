#include <functional>

#include "assay/conformance/lattice.hpp"
#include "flash_attention_score_grad_sampling.hpp"

namespace assay::conformance::flash {
namespace {

using Op = spec::FlashAttentionScoreGrad;
using spec::DType;
using spec::Layout;
using spec::MaskShape;

constexpr std::int64_t rows_of_long_cases = 32;

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

/// Collects variations of one case; surfaces, products, layouts and types take turns.
class Corners {
 public:
  explicit Corners(std::uint64_t seed) : seed_(seed) {}

  void add(const std::string& note, const std::function<void(FlashCase& c)>& change) {
    constexpr Layout layouts[] = {Layout::bnsd, Layout::bsh, Layout::bsnd, Layout::sbh};
    constexpr DType dtypes[] = {DType::bf16, DType::fp32, DType::fp16};
    const std::size_t turn = cases_.size();
    FlashCase c = small_case();
    c.problem.input_layout = layouts[turn % 4];
    c.problem.dtype = dtypes[turn % 3];
    c.surface = turn % 2 == 0 ? spec::FlashSurface::g1 : spec::FlashSurface::g2;
    c.product = turn / 2 % 2 == 0 ? spec::Product::a2 : spec::Product::a3;
    c.seed = seed_ + turn;
    c.note = note;
    change(c);
    cases_.push_back(std::move(c));
  }
  std::vector<FlashCase> take() { return std::move(cases_); }

 private:
  std::uint64_t seed_;
  std::vector<FlashCase> cases_;
};

void set_dim(Op::Problem& p, std::int64_t head_dim, std::int64_t head_dim_v) {
  p.head_dim = head_dim;
  p.head_dim_v = head_dim_v;
  p.scale_value = ordinary_scale(head_dim);
}

void set_single_head(Op::Problem& p, std::int64_t seq_q, std::int64_t seq_kv) {
  p.batch = p.heads_q = p.heads_kv = 1;
  p.seq_q = seq_q;
  p.seq_kv = seq_kv;
}

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
  corners.add("the narrowest value", [](FlashCase& c) { c.problem.head_dim_v = 1; });
}

void add_attributes(Corners& corners) {
  for (const double scale : {0.0, 1.0, -1.0, 0x1p-20, 3.0})
    corners.add("scale_value", [=](FlashCase& c) { c.problem.scale_value = scale; });
  const auto masked = [&](std::int64_t pre, std::int64_t next) {
    corners.add("window of mode 0", [=](FlashCase& c) {
      c.problem.atten_mask = MaskShape::ss;
      c.mask = "open";
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
    c.mask = "all_dead";
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

struct Masking {
  std::int64_t sparse_mode;
  MaskShape shape;
  const char* pattern;
};

FlashCase lattice_case(const Masking& mask, Track track, std::size_t turn) {
  constexpr std::int64_t dims[] = {64, 40, 128, 72, 33, 96}, lengths[] = {47, 96, 65, 130, 33};
  FlashCase c{.track = track, .mask = mask.pattern};
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

}  // namespace

std::vector<FlashCase> corner_cases(std::uint64_t seed) {
  Corners corners(seed);
  add_extents(corners);
  add_attributes(corners);
  add_bands(corners);
  add_long(corners);
  add_degenerate(corners);
  add_calls(corners);
  return corners.take();
}

std::vector<FlashCase> lattice_cases(std::uint64_t seed) {
  constexpr Masking maskings[] = {{0, MaskShape::absent, "random"},
                                  {0, MaskShape::ss, "dead_rows"},
                                  {1, MaskShape::bnss, "random"},
                                  {2, MaskShape::compressed, "random"},
                                  {3, MaskShape::compressed, "random"},
                                  {4, MaskShape::compressed, "random"}};
  std::vector<FlashCase> cases;
  const auto add = [&](FlashCase c, Layout layout, DType dtype) {
    c.problem.input_layout = layout;
    c.problem.dtype = dtype;
    c.seed = seed + cases.size();
    c.problem.scale_value = lattice_scale(c.problem, c.seed);
    cases.push_back(std::move(c));
  };
  for (const Track track : {Track::a1, Track::a2})
    for (const DType dtype : {DType::fp16, DType::bf16, DType::fp32})
      for (const Masking& mask : maskings) {
        for (const Layout layout : {Layout::bsh, Layout::sbh, Layout::bsnd, Layout::bnsd})
          add(lattice_case(mask, track, cases.size()), layout, dtype);
        if (mask.sparse_mode < 2 || track != Track::a1) continue;
        FlashCase c = lattice_case(mask, track, cases.size());
        set_single_head(c.problem, 2200, 2100);
        if (mask.sparse_mode == 4) c.problem.pre_tokens = 900, c.problem.next_tokens = 300;
        c.problem.head_dim = c.problem.head_dim_v = 48;
        c.rows = rows_of_long_cases;
        add(std::move(c), Layout::bnsd, dtype);
      }
  return cases;
}

}  // namespace assay::conformance::flash
