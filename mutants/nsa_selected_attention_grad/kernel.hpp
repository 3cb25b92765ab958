#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "assay/spec/operators/nsa_selected_attention_grad.hpp"
#include "selection/kernel.hpp"

/// A plain kernel of NsaSelectedAttentionGrad, and its mutants.
namespace assay::mutants::selected {

using selection::Pair;

using Op = spec::NsaSelectedAttentionGrad;

/// The problem of one run, the tensors that the kernel reads, and the sums that it computes.
struct SelectedWork {
  Op::Problem problem;
  DenseRows query, key, value, dy, attention_out;
  DenseRows softmax_max, softmax_sum;  ///< row size (dim) 8
  /// One block list per token and key head; each list has selected_block_count block numbers. All
  /// these numbers are exact in float.
  DenseRows lists;
  DenseRows dq, dk, dv;
  DenseRows dq_apart = {};  ///< second sum of dq, for a variant with two sums

  DenseRows& gradient(Gradient which);
};

/// An entry in the block list of a token. `slot`: index of the entry in the list.
struct Entry {
  std::int64_t token, slot;
};

/// A plain gradient kernel in float. It processes the block lists entry by entry and key by key,
/// and recomputes P and dS for each pair. Every step is a virtual function, so that a mutant
/// (kernel with a fault) can override the step that contains the fault. A tile contains
/// `query_tile` tokens and, for each of them, `key_tile` entries of its list (see Plan).
class Kernel : public selection::ListKernel<Op, SelectedWork> {
 public:
  using ListKernel::ListKernel;

  void run(const Op::Problem& problem, const Op::Inputs& inputs, Op::Outputs& outputs) override;

 protected:
  // Reading the inputs.
  DenseRows read(const spec::Tensor& tensor, const spec::Extents& extents) const;
  virtual SelectedWork load(const Op::Problem& problem, const Op::Inputs& inputs) const;
  virtual void clear(SelectedWork& w, const Op::Outputs& outputs) const;

  // The iteration space.
  virtual std::int64_t first_batch() const { return 0; }
  virtual std::int64_t end_batch(const SelectedWork& w) const { return w.problem.batch; }
  virtual std::int64_t heads(const SelectedWork& w) const { return w.problem.heads_q; }
  virtual std::int64_t tokens(const SelectedWork& w, std::int64_t b) const {
    return w.problem.length_q(b);
  }
  /// Returns the entries of all block lists of a head, in the order in which the plan processes its
  /// tiles.
  virtual std::vector<Entry> entries(const SelectedWork& w, std::int64_t b, std::int64_t n) const;
  virtual void begin_head(SelectedWork&, std::int64_t /*b*/, std::int64_t /*n*/) const {}

  /// Returns the row of dk and dv to which the pair's contribution is added.
  virtual spec::RowPosition scattered_row(const SelectedWork& w, const Pair& pair) const {
    return key_row(w, pair);
  }

  // The arithmetic of one pair.
  virtual float product(const SelectedWork& w, const Pair& pair) const;
  virtual float probability(const SelectedWork& w, const Pair& pair, const RowState& row) const;
  virtual float dprobability(const SelectedWork& w, const Pair& pair) const;
  virtual float dscore(const SelectedWork& w, const Pair& pair, float prob,
                       const RowState& row) const;
  virtual float row_term(const SelectedWork& w, Query q) const;
  virtual RowState row_state(const SelectedWork& w, Query q) const;
  virtual float stage(const SelectedWork& w, float value) const;
  /// Returns whether the pair contributes to a gradient.
  virtual bool collects(const SelectedWork&, Gradient, const Pair&) const { return true; }
  /// Returns the row of dq sums to which the pair's contribution is added.
  virtual std::span<float> dq_sum(SelectedWork& w, const Pair& pair) const {
    return w.dq.row(pair.q.b, pair.q.n, pair.q.i);
  }
  virtual void add_scaled(const SelectedWork& w, Gradient which, std::span<float> sum, float factor,
                          std::span<const float> row) const;

  // Writing the outputs.
  virtual float gradient_scale(const SelectedWork& w, Gradient which) const {
    return which == Gradient::dv ? 1.0f : scale(w);
  }
  virtual void adjust(SelectedWork&) const {}
  virtual bool writes_row(const SelectedWork&, Gradient, const spec::RowPosition&) const {
    return true;
  }
  virtual float cast(const SelectedWork& w, float value) const;
  virtual void write(SelectedWork& w, Gradient which, spec::Tensor& tensor) const;

 private:
  void compute_head(SelectedWork& w, std::int64_t b, std::int64_t n) const;
  void add_pair(SelectedWork& w, const Pair& pair, const RowState& row) const;

  std::uint64_t runs_ = 0;  ///< shuffled tiles have a different order in every run
};

}  // namespace assay::mutants::selected
