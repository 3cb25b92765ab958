#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "assay/spec/operators/nsa_selected_attention_grad.hpp"
#include "plan.hpp"
#include "planned_kernel.hpp"
#include "work.hpp"

/// A naive kernel of NsaSelectedAttentionGrad, and the bugs planted in it.
namespace assay::mutants::selected {

using Op = spec::NsaSelectedAttentionGrad;

/// Everything that one run reads and accumulates.
struct Work {
  Op::Problem problem;
  DenseRows query, key, value, dy, attention_out;
  DenseRows softmax_max, softmax_sum;  ///< dim 8
  DenseRows lists;                     ///< heads of key, dim selected_block_count; exact in float
  DenseRows dq, dk, dv;
  DenseRows dq_apart = {};  ///< of a variant that sums in two places

  DenseRows& gradient(Gradient which);
};

/// An entry of the list of a token.
struct Entry {
  std::int64_t token, slot;
};

/// A query row, the entry of its list that is at work, and key number `j` of the block that it
/// names.
struct Pair {
  Query q;
  std::int64_t slot, j;
};

/// A plain gradient kernel in float: entry by entry, key by key, P and dS recomputed per pair.
/// Every step is a virtual function, so that a planted bug overrides the one that it gets wrong. A
/// tile of its plan is so many tokens by so many entries of their lists.
class Kernel : public PlannedKernel<Op, Plan> {
 public:
  using PlannedKernel::PlannedKernel;

  spec::Numerics numerics(const Op::Problem& problem) const override {
    return declaration(declared(), problem.dtype);
  }
  void run(const Op::Problem& problem, const Op::Inputs& inputs, Op::Outputs& outputs) override;

 protected:
  // What is read.
  DenseRows read(const spec::Tensor& tensor, const spec::Extents& extents) const;
  virtual Work load(const Op::Problem& problem, const Op::Inputs& inputs) const;
  virtual void clear(Work& w, const Op::Outputs& outputs) const;

  // What is visited.
  virtual std::int64_t first_batch() const { return 0; }
  virtual std::int64_t end_batch(const Work& w) const { return w.problem.batch; }
  virtual std::int64_t heads(const Work& w) const { return w.problem.heads_q; }
  virtual std::int64_t tokens(const Work& w, std::int64_t b) const { return w.problem.length_q(b); }
  virtual std::int64_t slots(const Work& w) const { return w.problem.selected_block_count; }
  virtual std::int64_t keys_of_block(const Work& w) const { return w.problem.selected_block_size; }
  /// The entries of all lists of a head in the order of the plan's tiles.
  virtual std::vector<Entry> entries(const Work& w, std::int64_t b, std::int64_t n) const;
  virtual void begin_head(Work&, std::int64_t /*b*/, std::int64_t /*n*/) const {}

  // Where it lies.
  virtual std::int64_t kv_head(const Work& w, std::int64_t n) const {
    return n / w.problem.group();
  }
  /// Whose lists a query head follows.
  virtual std::int64_t list_head(const Work& w, std::int64_t n) const {
    return n / w.problem.group();
  }
  virtual std::int64_t block(const Work& w, Query q, std::int64_t slot) const;
  /// The position of a pair's key in its sequence.
  virtual std::int64_t position(const Work& w, const Pair& pair) const;
  virtual spec::RowPosition key_row(const Work& w, const Pair& pair) const {
    return {pair.q.b, kv_head(w, pair.q.n), position(w, pair)};
  }
  /// The row of key and value whose gradients collect the pair.
  virtual spec::RowPosition scattered_row(const Work& w, const Pair& pair) const {
    return key_row(w, pair);
  }

  // The mask.
  virtual bool is_causal(const Work& w) const;
  virtual std::int64_t last_seen(const Work&, Query q) const { return q.i; }
  virtual bool sees(const Work& w, const Pair& pair) const;

  // One pair.
  virtual float scale(const Work& w) const { return static_cast<float>(w.problem.scale_value); }
  virtual float product(const Work& w, const Pair& pair) const;
  virtual float probability(const Work& w, const Pair& pair, const RowState& row) const;
  virtual float dprobability(const Work& w, const Pair& pair) const;
  virtual float dscore(const Work& w, const Pair& pair, float prob, const RowState& row) const;
  virtual float row_term(const Work& w, Query q) const;
  virtual RowState row_state(const Work& w, Query q) const;
  virtual float stage(const Work& w, float value) const;
  /// Whether a gradient collects the pair.
  virtual bool collects(const Work&, Gradient, const Pair&) const { return true; }
  /// The sum that collects the pair in dq.
  virtual std::span<float> dq_sum(Work& w, const Pair& pair) const {
    return w.dq.row(pair.q.b, pair.q.n, pair.q.i);
  }
  virtual void add_scaled(const Work& w, Gradient which, std::span<float> sum, float factor,
                          std::span<const float> row) const;

  // What is written.
  virtual float gradient_scale(const Work& w, Gradient which) const {
    return which == Gradient::dv ? 1.0f : scale(w);
  }
  virtual void adjust(Work&) const {}
  virtual bool writes_row(const Work&, Gradient, const spec::RowPosition&) const { return true; }
  virtual float cast(const Work& w, float value) const;
  virtual void write(Work& w, Gradient which, spec::Tensor& tensor) const;

 private:
  void compute_head(Work& w, std::int64_t b, std::int64_t n) const;
  void add_pair(Work& w, const Pair& pair, const RowState& row) const;

  std::uint64_t runs_ = 0;  ///< shuffled tiles take another order in every run
};

}  // namespace assay::mutants::selected
