#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "assay/spec/implementation.hpp"
#include "assay/spec/operators/flash_attention_score_grad.hpp"

namespace assay::mutants {

using Op = spec::FlashAttentionScoreGrad;

/// How e^x is formed. clamped: the argument never falls below -88.
enum class Exponential : std::uint8_t { library, fused_exp2, polynomial, clamped, quadratic };
enum class TileOrder : std::uint8_t { ascending, descending, shuffled };
/// A masked score is left out, or replaced by -FLT_MAX as the device does.
enum class MaskedScore : std::uint8_t { skipped, replaced };
/// The type in which P and dS enter the gradient products.
enum class Staging : std::uint8_t { io_type, fp32, bf16 };

/// The choices that a conforming kernel is free to make, as far as it declares them.
struct Plan {
  std::int64_t query_tile = 16, key_tile = 16;
  TileOrder tile_order = TileOrder::ascending;
  Exponential exponential = Exponential::library;
  MaskedScore masked = MaskedScore::skipped;
  Staging staging = Staging::io_type;
  spec::Rounding round_stage = spec::Rounding::rne, round_out = spec::Rounding::rne;
  spec::Origin stats = spec::Origin::given, delta = spec::Origin::given;
  spec::Order order = spec::Order::any;
};

/// What the model of the Atlas A2 kernels does.
inline constexpr Plan ascend_like = {.masked = MaskedScore::replaced,
                                     .round_stage = spec::Rounding::rna,
                                     .round_out = spec::Rounding::rna};
/// What the model of the CUDA flash kernels does.
inline constexpr Plan flash_like = {.exponential = Exponential::fused_exp2};

/// The declaration of a kernel that follows `plan`, for tensors of type `io`.
spec::NumericsProfile declaration(const Plan& plan, spec::DType io);

/// A dense float copy of an attention tensor, (batch, heads, seq, dim) row-major.
struct Dense {
  spec::Extents extents;
  std::vector<float> values;

  std::span<float> row(std::int64_t b, std::int64_t n, std::int64_t s);
  std::span<const float> row(std::int64_t b, std::int64_t n, std::int64_t s) const;
};

/// Every element `value`.
Dense filled(const spec::Extents& extents, float value);

enum class Gradient : std::uint8_t { dq, dk, dv };

/// Everything that one run reads and accumulates.
struct Work {
  Op::Problem problem;
  Dense query, key, value, dy, attention_in;
  Dense softmax_max, softmax_sum;  ///< dim 1
  const spec::Tensor* atten_mask = nullptr;
  Dense dq, dk, dv;

  Dense& gradient(Gradient which) {
    return which == Gradient::dq ? dq : which == Gradient::dk ? dk : dv;
  }
};

/// A query row.
struct Query {
  std::int64_t b, n, i;
};

/// What a query row brings to each of its pairs.
struct RowState {
  float softmax_max, softmax_sum, row_term;
};

/// Queries first_query..end_query-1 against keys first_key..end_key-1.
struct Tile {
  std::int64_t first_query, end_query, first_key, end_key;
};

/// A plain gradient kernel in float: tiles of queries and keys, P and dS recomputed per pair.
/// Every step is a virtual function, so that a planted bug overrides the one that it gets wrong.
class Kernel : public spec::Implementation<Op> {
 public:
  Kernel(std::string name, const Plan& plan) : Kernel(std::move(name), plan, plan) {}
  /// Follows `plan` and declares `declared`.
  Kernel(std::string name, const Plan& plan, const Plan& declared)
      : name_(std::move(name)), plan_(plan), declared_(declared) {}

  std::string name() const override { return name_; }
  spec::NumericsProfile numerics(const Op::Problem& problem) const override {
    return declaration(declared_, problem.dtype);
  }
  void run(const Op::Problem& problem, const Op::Inputs& inputs, Op::Outputs& outputs) override;

 protected:
  virtual Dense read(const spec::Tensor& tensor, spec::Layout layout,
                     const spec::Extents& extents) const;
  virtual Work load(const Op::Problem& problem, const Op::Inputs& inputs) const;
  virtual void clear(Work& w, const Op::Outputs& outputs) const;

  virtual std::int64_t batches(const Work& w) const { return w.problem.batch; }
  virtual std::int64_t heads(const Work& w) const { return w.problem.heads_q; }
  virtual std::int64_t kv_head(const Work& w, std::int64_t n) const {
    return n / w.problem.group();
  }
  virtual void begin_head(Work&, std::int64_t /*b*/, std::int64_t /*n*/) const {}
  virtual bool visits(const Work&, const Tile&) const { return true; }

  virtual bool keeps(const Work& w, Query q, std::int64_t j) const;
  virtual float scale(const Work& w) const { return static_cast<float>(w.problem.scale_value); }
  virtual float product(const Work& w, Query q, std::int64_t j) const;
  virtual float probability(const Work& w, Query q, std::int64_t j, const RowState& row) const;
  virtual float dprobability(const Work& w, Query q, std::int64_t j) const;
  virtual float row_term(const Work& w, Query q, const RowState& row) const;
  virtual RowState row_state(const Work& w, Query q) const;
  virtual float stage(const Work& w, float value) const;
  virtual void add_scaled(const Work& w, Gradient which, std::span<float> sum, float factor,
                          std::span<const float> row) const;
  virtual void add_pair(Work& w, Query q, std::int64_t j, const RowState& row) const;

  virtual float gradient_scale(const Work& w, Gradient which) const {
    return which == Gradient::dv ? 1.0f : scale(w);
  }
  virtual void adjust(Work&) const {}
  virtual bool writes_row(const Work&, Gradient, std::int64_t /*s*/) const { return true; }
  virtual float cast(const Work& w, float value) const;

  const Plan& plan() const { return plan_; }

 private:
  std::vector<Tile> tiles(const Op::Problem& problem) const;
  RowState own_statistics(const Work& w, Query q) const;
  void compute_head(Work& w, std::int64_t b, std::int64_t n) const;
  void write(Work& w, Gradient which, spec::Tensor& tensor) const;

  std::string name_;
  Plan plan_, declared_;
  std::uint64_t runs_ = 0;  ///< shuffled tiles take another order in every run
};

/// Dot product in float, ascending.
float dot(std::span<const float> a, std::span<const float> b);

/// Whether no key of the row is kept, by its statistics.
bool is_dead(const Work& w, Query q);

}  // namespace assay::mutants
