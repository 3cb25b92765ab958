#include <array>

#include "operators/flash_attention_score_grad/plan/corners.hpp"

namespace assay::conformance::flash {
namespace {

using Op = spec::FlashAttentionScoreGrad;
using spec::FlashSurface;
using spec::PseShape;

/// The last 1024 rows of a bias of i - j, where there are as many queries and keys and where there
/// are more.
void add_last_rows(Corners& corners) {
  for (const std::int64_t seq : {1024, 1025, 2048})
    for (const auto shape : {PseShape::bnhs, PseShape::one_nhs})
      corners.add("the last 1024 rows of a bias", [=](FlashCase& c) {
        set_single_head(c.problem, seq, seq);
        set_dim(c.problem, 16, 16);
        c.problem.pse_shift = shape;
        set_compressed(c.problem, seq % 2 == 0 ? 2 : 3);
        c.rows = rows_of_long_cases;
      });
  for (const std::int64_t longest : {40, 1024, 1100})
    for (const std::int64_t mode : {2, 3})
      corners.add_packed("1024 rows of a bias for packed sequences", [=](FlashCase& c) {
        c.problem.heads_q = c.problem.heads_kv = longest < 1024 ? 2 : 1;
        set_dim(c.problem, 16, 16);
        set_lengths(c.problem, {33, longest}, {33, longest});
        c.problem.pse_shift = mode == 2 ? PseShape::bnhs : PseShape::one_nhs;
        set_compressed(c.problem, mode);
        if (longest >= 1024) c.rows = rows_of_long_cases;
      });
}

/// Distances count from the start indices, which may lie far apart or before the first token.
void add_starts(Corners& corners) {
  struct Starts {
    std::int64_t q, kv;
  };
  for (const Starts starts : {Starts{0, 0}, {1000, 1000}, {0, 200}, {200, 0}, {-17, 5}})
    for (const std::int64_t type : {2, 3})
      corners.add("start indices", [=](FlashCase& c) {
        c.surface = FlashSurface::g2;
        c.problem.seq_kv = c.problem.seq_q;
        c.problem.pse_type = type;
        c.problem.pse_shift = type == 2 ? PseShape::slopes_n : PseShape::slopes_bn;
        c.problem.q_start_idx = {starts.q};
        c.problem.kv_start_idx = {starts.kv};
      });
  for (const std::int64_t type : {2, 3})
    for (const auto dtype : {spec::DType::bf16, spec::DType::fp16})
      corners.add("slopes of query's type", [=](FlashCase& c) {
        c.surface = FlashSurface::g2;
        c.problem.dtype = c.problem.slope_dtype = dtype;
        c.problem.seq_kv = c.problem.seq_q;
        c.problem.pse_type = type;
        c.problem.pse_shift = type == 2 ? PseShape::slopes_n : PseShape::slopes_bn;
      });
  for (const std::int64_t type : {2, 3})
    corners.add_packed("a start index of keys alone counts for nothing", [=](FlashCase& c) {
      c.surface = FlashSurface::u2;
      c.problem.softmax_in_layout = spec::StatisticsOrder::packed;
      set_lengths(c.problem, {40, 33}, {40, 33});
      c.problem.pse_type = type;
      c.problem.pse_shift = PseShape::slopes_bn;
      c.problem.kv_start_idx = {12};
    });
  // Sq(0) + qStart = Skv(0) + kvStart; in mode 8 the indices are those of the first sequence.
  for (const std::int64_t type : {2, 3})
    corners.add_packed("start indices of the first sequence in mode 8", [=](FlashCase& c) {
      c.surface = FlashSurface::u2;
      c.problem.softmax_in_layout = spec::StatisticsOrder::packed;
      set_lengths(c.problem, {20, 33}, {28, 33});
      set_compressed(c.problem, 8);
      c.problem.pre_tokens = 30;
      c.problem.next_tokens = -4;
      c.problem.pse_type = type;
      c.problem.pse_shift = PseShape::slopes_n;
      c.problem.q_start_idx = {13};
      c.problem.kv_start_idx = {5};
    });
}

/// Without scores the bias alone makes the probabilities in types 0, 2 and 3.
void add_bias_alone(Corners& corners) {
  for (const std::int64_t type : {0, 1, 2, 3})
    corners.add("a bias without scores", [=](FlashCase& c) {
      c.surface = FlashSurface::g2;
      c.problem.seq_kv = c.problem.seq_q;
      c.problem.pse_type = type;
      c.problem.pse_shift = type < 2 ? PseShape::bnss : PseShape::slopes_n;
      c.problem.scale_value = 0;
    });
  for (const auto shape : {PseShape::bnss, PseShape::bn1s, PseShape::one_nss})
    for (const std::int64_t batch : {1, 3})
      corners.add("shapes of a bias", [=](FlashCase& c) {
        c.problem.batch = batch;
        c.problem.pse_shift = shape;
        c.inputs = spec::Striding::transposed;
      });
}

}  // namespace

void add_pse_corners(Corners& corners) {
  add_last_rows(corners);
  add_starts(corners);
  add_bias_alone(corners);
}

void add_dropout_corners(Corners& corners) {
  const auto drop = [](FlashCase& c, double keep_prob, const char* pattern, spec::DropMask mask) {
    c.problem.keep_prob = static_cast<double>(static_cast<float>(keep_prob));
    c.problem.drop_mask = mask;
    c.patterns.drop = pattern;
  };
  using enum spec::DropMask;
  // Rows and sequences begin within a byte.
  for (const std::int64_t seq_kv : {1, 7, 8, 9, 13, 127})
    for (const bool packed : {false, true}) {
      const auto change = [=](FlashCase& c) {
        c.problem.heads_q = c.problem.heads_kv = 3;
        if (packed) {
          set_lengths(c.problem, {5, 11, 3}, {seq_kv, 9, seq_kv + 2});
        } else {
          c.problem.seq_q = 11;
          c.problem.seq_kv = seq_kv;
        }
        drop(c, 0.5, "random", seq_kv % 2 == 0 ? granules : exact);
      };
      packed ? corners.add_packed("dropout bits within a byte", change)
             : corners.add("dropout bits within a byte", change);
    }
  for (const auto mask : {exact, granules}) {
    corners.add("everything is dropped", [=](FlashCase& c) { drop(c, 0.5, "all_dropped", mask); });
    corners.add_packed("everything is dropped",
                       [=](FlashCase& c) { drop(c, 0.25, "all_dropped", mask); });
    corners.add("nothing is dropped", [=](FlashCase& c) { drop(c, 0.8, "all_kept", mask); });
    corners.add("a share that is next to nothing",
                [=](FlashCase& c) { drop(c, 0x1p-10, "all_kept", mask); });
    corners.add_packed("a share that is next to nothing",
                       [=](FlashCase& c) { drop(c, 0.02, "random", mask); });
    corners.add("a share that is next to all",
                [=](FlashCase& c) { drop(c, 1 - 0x1p-24, "random", mask); });
    corners.add("a drop mask that keep_prob 1 makes void",
                [=](FlashCase& c) { drop(c, 1, "all_dropped", mask); });
  }
}

void add_rope_corners(Corners& corners) {
  struct Dims {
    std::int64_t head_dim, head_dim_v, head_dim_rope;
  };
  for (const Dims dims : {Dims{8, 8, 8},
                          {64, 64, 8},
                          {64, 64, 64},
                          {128, 128, 64},
                          {192, 128, 64},
                          {512, 512, 64},
                          {520, 520, 8},
                          {768, 768, 64},
                          {768, 768, 768}})
    corners.add_packed("head sizes with rope", [=](FlashCase& c) {
      set_rope(c, dims.head_dim_rope);
      c.product = dims.head_dim_rope == 64 ? spec::Product::a3 : spec::Product::a2;
      c.problem.heads_q = 2;
      c.problem.heads_kv = 1;
      set_lengths(c.problem, {20, 9}, {24, 31});
      set_dim(c.problem, dims.head_dim, dims.head_dim_v);
    });
  corners.add_packed("one sequence, the largest heads", [](FlashCase& c) {
    set_rope(c, 64);
    c.problem.heads_q = 2;
    c.problem.heads_kv = 1;
    set_lengths(c.problem, {37}, {45});
    set_dim(c.problem, 768, 768);
  });
  for (const std::int64_t mode : {2, 4, 7, 8})
    corners.add_packed("masks with rope", [=](FlashCase& c) {
      set_rope(c, 16);
      set_compressed(c.problem, mode);
      if (mode == 4) c.problem.pre_tokens = 12, c.problem.next_tokens = 6;
      if (mode >= 7) c.problem.pre_tokens = 48, c.problem.next_tokens = 0;
    });
  corners.add_packed("rope without scores", [](FlashCase& c) {
    set_rope(c, 32);
    c.problem.scale_value = 0;
  });
}

}  // namespace assay::conformance::flash
