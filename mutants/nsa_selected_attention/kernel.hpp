#pragma once

#include <cstdint>
#include <vector>

#include "assay/spec/operators/nsa_selected_attention.hpp"
#include "selection/kernel.hpp"

/// A plain kernel of NsaSelectedAttention, and its mutants.
namespace assay::mutants::selected_forward {

using selection::Pair;

using Op = spec::NsaSelectedAttention;

/// The problem of one run and the tensors that the kernel reads.
struct ForwardWork {
  Op::Problem problem;
  DenseRows query, key, value;
  DenseRows lists;  ///< one list per key head; exact in float
};

/// The softmax of a query row over the keys of its block list.
struct Softmax {
  std::vector<Pair> places;    ///< those that the query sees
  std::vector<float> weights;  ///< exp(score - max), one for each place
  float max, sum;
};

/// A plain kernel in float. It computes all scores of a query, their maximum, their sum, and the
/// weighted sum of value. Every step is a virtual function, so that a mutant (kernel with a fault)
/// can override the step that contains the fault. The kernel uses the order of the tiles in its
/// plan, but not their sizes.
class Kernel : public selection::ListKernel<Op, ForwardWork> {
 public:
  using ListKernel::ListKernel;

  void run(const Op::Problem& problem, const Op::Inputs& inputs, Op::Outputs& outputs) override;

 protected:
  virtual ForwardWork load(const Op::Problem& problem, const Op::Inputs& inputs) const;

  /// Returns the position of the pair's row in the tensor value.
  virtual spec::RowPosition value_row(const ForwardWork& w, const Pair& pair) const {
    return key_row(w, pair);
  }

  // The arithmetic of one row.
  virtual float score(const ForwardWork& w, const Pair& pair) const;
  virtual float largest(const std::vector<float>& scores) const;
  virtual float weight(float score, float max) const;
  virtual float sum_of(const ForwardWork& w, const std::vector<float>& weights) const;
  /// Returns the factor by which the row of a key in the tensor value is multiplied before it is
  /// added to the output.
  virtual float probability(const ForwardWork& w, const Pair& pair, float weight,
                            const Softmax& row) const;
  virtual Softmax softmax(const ForwardWork& w, Query q) const;
  virtual void finish(const ForwardWork&, Query, Softmax&, std::vector<float>& /*output*/) const {}

  // Writing the outputs.
  virtual std::int64_t replicas() const { return spec::statistics_replicas; }
  virtual float reported_max(const Softmax& row) const { return row.max; }
  virtual float reported_sum(const Softmax& row) const { return row.sum; }
  /// Returns the statistics of a row without unmasked keys.
  virtual Softmax empty() const;
  virtual bool writes_row(const ForwardWork&, Query) const { return true; }
  virtual float cast(const ForwardWork& w, float value) const;

 private:
  std::uint64_t runs_ = 0;  ///< shuffled places have a different order in every run
};

}  // namespace assay::mutants::selected_forward
