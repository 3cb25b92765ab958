#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "case/lengths.hpp"
#include "operators/flash_attention_score_grad/plan/sampling.hpp"

namespace assay::conformance::flash {

/// Rows judged of each head where sequences are long.
inline constexpr std::int64_t rows_of_long_cases = 32;

/// Collects variations of one padded and of one packed case; surfaces, products, layouts and types
/// take turns.
class Corners {
 public:
  using Change = std::function<void(FlashCase& c)>;

  explicit Corners(std::uint64_t seed) : seed_(seed) {}

  /// A padded call of g1 or g2.
  void add(const std::string& note, const Change& change);
  /// Three packed sequences of u1, u2 or u4 under no mask.
  void add_packed(const std::string& note, const Change& change);
  std::vector<FlashCase> take() { return std::move(cases_); }

 private:
  void keep(FlashCase c, const std::string& note, const Change& change);
  std::uint64_t seed_;
  std::vector<FlashCase> cases_;
};

void set_dim(spec::FlashAttentionScoreGrad::Problem& p, std::int64_t head_dim,
             std::int64_t head_dim_v);
void set_single_head(spec::FlashAttentionScoreGrad::Problem& p, std::int64_t seq_q,
                     std::int64_t seq_kv);
/// A compressed mask in `sparse_mode`.
void set_compressed(spec::FlashAttentionScoreGrad::Problem& p, std::int64_t sparse_mode);
/// An entry point with rope tensors, which take bf16 and a mask.
void set_rope(FlashCase& c, std::int64_t head_dim_rope);

/// Corners of what the packed layout adds, and of position bias, dropout and rope in every layout.
void add_packed_corners(Corners& corners);
void add_pse_corners(Corners& corners);
void add_dropout_corners(Corners& corners);
void add_rope_corners(Corners& corners);

}  // namespace assay::conformance::flash
