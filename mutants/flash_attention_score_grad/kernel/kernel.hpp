#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "assay/spec/operators/flash_attention_score_grad.hpp"
#include "plan.hpp"
#include "planned_kernel.hpp"
#include "work.hpp"

namespace assay::mutants {

/// Writes zeros to the last `tokens` tokens of a TND gradient, which follow the last sequence.
void clear_last_tokens(spec::Tensor& tensor, std::int64_t tokens);

/// A plain gradient kernel in float that works in tiles of queries and keys, and recomputes P and
/// dS for each pair. Every step is a virtual function, so that a mutant (kernel with a fault) can
/// override the step that contains the fault.
class Kernel : public PlannedKernel<Op, Plan> {
 public:
  using PlannedKernel::PlannedKernel;

  spec::Numerics numerics(const Op::Problem& problem) const override {
    return declaration(declared(), problem.dtype);
  }
  void run(const Op::Problem& problem, const Op::Inputs& inputs, Op::Outputs& outputs) override;
  bool has_forward() const override { return true; }
  void forward(const Op::Problem& problem, Op::Inputs& inputs) override;

 protected:
  // Reading the inputs.
  virtual DenseRows read(const spec::Tensor& tensor, spec::Layout layout,
                         const spec::Extents& extents) const;
  /// Returns the row-major index of a row's statistic in the statistics tensor.
  virtual std::int64_t statistics_element(const Op::Problem& problem, const spec::Extents& extents,
                                          const spec::RowPosition& row) const;
  virtual AttentionWork load(const Op::Problem& problem, const Op::Inputs& inputs) const;
  virtual void clear(AttentionWork& w, const Op::Outputs& outputs) const;

  // The iteration space.
  virtual std::int64_t batches(const AttentionWork& w) const { return w.problem.batch; }
  virtual std::int64_t heads(const AttentionWork& w) const { return w.problem.heads_q; }
  virtual std::int64_t keys(const AttentionWork& w, std::int64_t b) const {
    return w.problem.length_kv(b);
  }
  virtual std::int64_t kv_head(const AttentionWork& w, std::int64_t n) const {
    return n / w.problem.group();
  }
  /// Returns the position of key j, for this query, in the tensors key and value.
  virtual spec::RowPosition key_position(const AttentionWork& w, Query q, std::int64_t j) const {
    return {q.b, kv_head(w, q.n), j};
  }
  virtual void begin_head(AttentionWork&, std::int64_t /*b*/, std::int64_t /*n*/) const {}
  virtual bool visits(const AttentionWork&, std::int64_t /*b*/, const Tile&) const { return true; }

  // The mask.
  virtual bool keeps(const AttentionWork& w, Query q, std::int64_t j) const;
  /// Returns the sparse mode of sequence b. If the mode of the call is 7 or 8, each sequence has
  /// one of the modes below 7.
  virtual std::int64_t sparse_mode(const AttentionWork& w, std::int64_t b) const;
  virtual std::int64_t band_batch(const AttentionWork& w) const;
  /// Returns the offset between two diagonals, in keys: from the diagonal that starts at the
  /// upper-left corner of the mask to the diagonal that ends at the lower-right corner.
  virtual std::int64_t corner(const AttentionWork& w, std::int64_t b) const;
  virtual std::int64_t prefix(const AttentionWork& w, std::int64_t b) const;
  virtual bool excluded(const AttentionWork& w, Query q, std::int64_t j) const;

  // The position bias.
  virtual std::int64_t pse_type(const AttentionWork& w) const { return w.problem.pse_type; }
  /// Returns the row-major index of the pair's element in pse, the tensor of the position bias.
  virtual std::int64_t pse_element(const AttentionWork& w, Query q, std::int64_t j) const;
  virtual std::int64_t compressed_pse_element(const AttentionWork& w, Query q,
                                              std::int64_t j) const;
  /// Returns the value of kvStartIdx - qStartIdx that applies to sequence b.
  virtual std::int64_t start_shift(const AttentionWork& w, std::int64_t b) const;
  /// Returns the distance from query q to key j, counted from the start indices (tokens).
  virtual float distance(const AttentionWork& w, Query q, std::int64_t j) const;
  virtual float bias(const AttentionWork& w, Query q, std::int64_t j) const;

  // Dropout.
  virtual std::int64_t drop_bit(const AttentionWork& w, Query q, std::int64_t j) const;
  virtual bool bit_is_set(const AttentionWork& w, std::int64_t bit) const;
  virtual float inverse_keep_prob(const AttentionWork& w) const {
    return 1.0f / static_cast<float>(w.problem.keep_prob);
  }
  /// Returns the factor by which dropout multiplies P and dP of the pair.
  virtual float drop_factor(const AttentionWork& w, Query q, std::int64_t j) const;

  // The arithmetic of one pair.
  virtual float scale(const AttentionWork& w) const {
    return static_cast<float>(w.problem.scale_value);
  }
  virtual float product(const AttentionWork& w, Query q, std::int64_t j) const;
  virtual float rope_product(const AttentionWork& w, Query q, std::int64_t j, float sum) const;
  virtual float score(const AttentionWork& w, Query q, std::int64_t j) const;
  virtual float probability(const AttentionWork& w, Query q, std::int64_t j,
                            const RowState& row) const;
  virtual float dropped(const AttentionWork& w, Query q, std::int64_t j, float prob) const;
  virtual float dprobability(const AttentionWork& w, Query q, std::int64_t j) const;
  virtual float dscore(const AttentionWork& w, Query q, std::int64_t j, float prob,
                       const RowState& row) const;
  virtual float row_term(const AttentionWork& w, Query q, const RowState& row) const;
  /// Returns the softmax probability of the sink of the query's head.
  virtual float sink_probability(const AttentionWork& w, Query q, const RowState& row) const;
  /// Returns the contribution of a query to -dsink of its head: the probability of the sink, times
  /// the sum of P dP.
  virtual float sink_term(const AttentionWork& w, Query q, const RowState& row) const;
  /// Returns dsink of a query head.
  virtual float sink_gradient(const AttentionWork& w, std::int64_t n) const;
  virtual RowState row_state(const AttentionWork& w, Query q) const;
  virtual float stage(const AttentionWork& w, float value) const;
  virtual void add_scaled(const AttentionWork& w, Gradient which, std::span<float> sum,
                          float factor, std::span<const float> row) const;
  /// Returns the row that the kernel multiplies by a factor and adds to a gradient, for one pair.
  /// Example: for dq, the row of the key.
  virtual std::span<const float> collected(const AttentionWork& w, Gradient which, Query q,
                                           std::int64_t j) const;
  virtual void add_pair(AttentionWork& w, Query q, std::int64_t j, const RowState& row) const;

  // Computes the softmax statistics without dropout; does not set row_term (the row's sum of P dP).
  virtual RowState forward_statistics(const AttentionWork& w, Query q) const {
    return own_statistics(w, q);
  }
  /// Returns the factor by which the row of a key in the tensor value is multiplied before it is
  /// added to the output.
  virtual float output_weight(const AttentionWork& w, Query q, std::int64_t j,
                              const RowState& row) const;
  /// Returns the row of the tensor value that is added to the output for the pair (q, j).
  virtual std::span<const float> value_row(const AttentionWork& w, Query q, std::int64_t j) const {
    return w.value.row(key_position(w, q, j));
  }
  virtual std::int64_t written_replicas() const { return spec::statistics_replicas; }

  // Writing the outputs.
  virtual float gradient_scale(const AttentionWork& w, Gradient which) const {
    return which == Gradient::dv ? 1.0f : scale(w);
  }
  virtual void adjust(AttentionWork&) const {}
  virtual bool writes_row(const AttentionWork&, Gradient, std::int64_t /*b*/,
                          std::int64_t /*s*/) const {
    return true;
  }
  virtual bool writes_padding() const { return true; }
  virtual float cast(const AttentionWork& w, float value) const;

  /// Returns the maximum and the sum of the row's scores as this kernel computes them.
  RowState own_statistics(const AttentionWork& w, Query q) const;
  /// Returns the output row as the kernel's forward writes it: P is rounded to the staging type
  /// (16-bit type of intermediate results), the sums are cast to the output type.
  std::vector<float> own_output(const AttentionWork& w, Query q, const RowState& row) const;
  /// Adds `factor` times the row of the pair (see `collected`) to the gradient.
  void add_to(AttentionWork& w, Gradient which, Query q, std::int64_t j, float factor) const;

 private:
  std::vector<Tile> tiles(const AttentionWork& w, std::int64_t b) const;
  float fused_exponent(const AttentionWork& w, Query q, std::int64_t j, const RowState& row) const;
  void compute_head(AttentionWork& w, std::int64_t b, std::int64_t n) const;
  void write(AttentionWork& w, Gradient which, spec::Tensor& tensor) const;
  void write_dsink(const AttentionWork& w, spec::Tensor& tensor) const;

  std::uint64_t runs_ = 0;  ///< shuffled tiles have a different order in every run
};

}  // namespace assay::mutants
