#pragma once

#include <cstdint>

#include "plan.hpp"
#include "planned_kernel.hpp"
#include "work.hpp"

/// The common parts of the plain kernels for NsaSelectedAttention and its gradient.
namespace assay::mutants::selection {

/// A query row, an entry in its block list, and key `j` of the block in this entry.
struct Pair {
  Query q;
  std::int64_t slot, j;
};

/// The steps in which a kernel finds the keys of a query. `Inputs`: the problem of one run and the
/// tensors that the kernel reads. Every step is a virtual function, so that a mutant (kernel with a
/// fault) can override the step that contains the fault.
template <class Op, class Inputs>
class ListKernel : public PlannedKernel<Op, Plan> {
 public:
  using Work = Inputs;
  using PlannedKernel<Op, Plan>::PlannedKernel;

  spec::Numerics numerics(const typename Op::Problem& problem) const override {
    return declaration(this->declared(), problem.dtype);
  }

 protected:
  // The lists.
  virtual std::int64_t slots(const Work& w) const { return w.problem.selected_block_count; }
  virtual std::int64_t keys_of_block(const Work& w) const { return w.problem.selected_block_size; }
  virtual std::int64_t kv_head(const Work& w, std::int64_t n) const {
    return n / w.problem.group();
  }
  /// Returns the key head whose block lists the query head uses.
  virtual std::int64_t list_head(const Work& w, std::int64_t n) const {
    return n / w.problem.group();
  }
  virtual std::int64_t block(const Work& w, Query q, std::int64_t slot) const {
    return static_cast<std::int64_t>(
        w.lists.row(q.b, list_head(w, q.n), q.i)[static_cast<std::size_t>(slot)]);
  }
  /// Returns the position of a pair's key in its sequence.
  virtual std::int64_t position(const Work& w, const Pair& pair) const {
    return block(w, pair.q, pair.slot) * w.problem.selected_block_size + pair.j;
  }
  virtual spec::RowPosition key_row(const Work& w, const Pair& pair) const {
    return {pair.q.b, kv_head(w, pair.q.n), position(w, pair)};
  }

  // The mask.
  virtual bool is_causal(const Work& w) const {
    return w.problem.sparse_mode == 2 && w.problem.atten_mask != spec::SelectedMask::absent;
  }
  virtual std::int64_t last_seen(const Work&, Query q) const { return q.i; }
  virtual bool sees(const Work& w, const Pair& pair) const {
    return !is_causal(w) || position(w, pair) <= last_seen(w, pair.q);
  }

  virtual float scale(const Work& w) const { return static_cast<float>(w.problem.scale_value); }
};

}  // namespace assay::mutants::selection
