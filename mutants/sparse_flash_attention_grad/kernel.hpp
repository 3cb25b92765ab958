#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "assay/spec/operators/sparse_flash_attention_grad.hpp"
#include "plan.hpp"
#include "planned_kernel.hpp"
#include "work.hpp"

/// A plain kernel of SparseFlashAttentionGrad, and its mutants.
namespace assay::mutants::sparse_flash {

using Op = spec::SparseFlashAttentionGrad;

/// The problem of one run, the tensors that the kernel reads, and the sums that it computes. If the
/// problem has no rope part, the rope tensors have rows of size 0.
struct SparseWork {
  Op::Problem problem;
  DenseRows query, key, value, d_out, out, query_rope, key_rope;
  DenseRows softmax_max, softmax_sum;  ///< row size (dim) 1
  DenseRows lists;                     ///< row size sparse_block_count; exact in float
  DenseRows d_query, d_key, d_value, d_query_rope, d_key_rope;
};

/// A query row and a key. The key is given by its position in the sequence and by the list entry
/// that contains its block.
struct Pair {
  Query q;
  std::int64_t slot, key;
};

/// A gradient kernel in float that processes each block list entry by entry and key by key. Every
/// step is a virtual function, so that a mutant (kernel with a fault) can override the step that
/// contains the fault.
class Kernel : public PlannedKernel<Op, Plan> {
 public:
  using PlannedKernel::PlannedKernel;

  spec::Numerics numerics(const Op::Problem& problem) const override {
    return declaration(declared(), problem.dtype);
  }
  void run(const Op::Problem& problem, const Op::Inputs& inputs, Op::Outputs& outputs) override;

 protected:
  virtual SparseWork load(const Op::Problem& problem, const Op::Inputs& inputs) const;

  // Returns the number of keys that the token may see, counted from the start of its sequence. This
  // function and the next ones find the keys of a token.
  virtual std::int64_t visible(const SparseWork& w, std::int64_t b, std::int64_t s) const;
  /// Returns how many entries of the token's list the kernel uses.
  virtual std::int64_t used(const SparseWork& w, std::int64_t b, std::int64_t s) const;
  virtual std::int64_t block(const SparseWork& w, std::int64_t b, std::int64_t s,
                             std::int64_t slot) const;
  virtual std::int64_t keys_of_block(const SparseWork& w) const {
    return w.problem.sparse_block_size;
  }
  /// Returns the position of key `k` of the block in list entry `slot`.
  virtual std::int64_t position(const SparseWork& w, const Query& q, std::int64_t slot,
                                std::int64_t k) const {
    return block(w, q.b, q.i, slot) * w.problem.sparse_block_size + k;
  }
  virtual bool sees(const SparseWork& w, const Pair& pair) const {
    return pair.key < visible(w, pair.q.b, pair.q.i);
  }
  /// Returns the row of the pair's key in key, value and their gradients.
  virtual spec::RowPosition key_row(const SparseWork& w, const Pair& pair) const;

  // The arithmetic of one pair.
  virtual float product(const SparseWork& w, const Pair& pair) const;
  virtual float probability(const SparseWork& w, const Pair& pair) const;
  virtual float dprobability(const SparseWork& w, const Pair& pair) const;
  /// Returns dS of a pair. `prob` is the pair's softmax probability.
  virtual float dscore(const SparseWork& w, const Pair& pair, float prob) const;
  virtual float row_term(const SparseWork& w, const Query& q) const;
  virtual float softmax_max(const SparseWork& w, const Query& q) const;
  virtual float softmax_sum(const SparseWork& w, const Query& q) const;
  virtual float scale(const SparseWork& w) const {
    return static_cast<float>(w.problem.scale_value);
  }
  virtual float stage(const SparseWork& w, float value) const;
  /// Returns whether the pair contributes to the gradients of key and value.
  virtual bool collects(const SparseWork&, const Pair&) const { return true; }
  /// Rounds the contribution of a pair to the staging type (type of intermediate results) and adds
  /// it to the gradients of key and value.
  virtual void add_to_key(SparseWork& w, const Pair& pair, float ds, float prob) const;

  // Writing the outputs.
  virtual float query_scale(const SparseWork& w) const { return scale(w); }
  virtual float rope_scale(const SparseWork& w) const { return scale(w); }
  virtual float key_scale(const SparseWork& w) const { return scale(w); }
  /// Adds d_value to d_key if the call has no tensor d_value.
  virtual void merge(SparseWork& w) const;
  virtual void finish(SparseWork&) const {}
  virtual float cast(const SparseWork& w, float value) const;
  void write(const SparseWork& w, Op::Outputs& outputs) const;
  void write(const SparseWork& w, const DenseRows& rows, spec::Tensor& tensor) const;

 private:
  std::vector<std::int64_t> slots(const SparseWork& w, std::int64_t count) const;
  void add_pair(SparseWork& w, const Pair& pair) const;

  std::uint64_t runs_ = 0;  ///< shuffled lists have a different order in every run
};

}  // namespace assay::mutants::sparse_flash
