#pragma once

#include <cstdint>
#include <vector>

#include "assay/spec/operators/nsa_selected_attention.hpp"
#include "selection/kernel.hpp"

/// A plain kernel of NsaSelectedAttention, and its mutants.
namespace assay::mutants::selected_forward {

using selection::Pair;

using Op = spec::NsaSelectedAttention;

/// The problem of one run and the tensors that it reads.
struct ForwardWork {
  Op::Problem problem;
  DenseRows query, key, value;
  DenseRows lists;  ///< one list per key head; exact in float
};

/// The softmax of a query row over the entries of its list.
struct Softmax {
  std::vector<Pair> places;    ///< those that the query sees
  std::vector<float> weights;  ///< exp(score - max), one for each place
  float max, sum;
};

/// A plain kernel in float: it computes all scores of a query, their maximum, their sum, and the
/// weighted sum of value. Every step is a virtual function, so that a mutant overrides the step
/// that it gets wrong. The plan's tiles are not used, except for their order.
class Kernel : public selection::ListKernel<Op, ForwardWork> {
 public:
  using ListKernel::ListKernel;

  void run(const Op::Problem& problem, const Op::Inputs& inputs, Op::Outputs& outputs) override;

 protected:
  virtual ForwardWork load(const Op::Problem& problem, const Op::Inputs& inputs) const;

  /// Returns the row of value for the key of the pair.
  virtual spec::RowPosition value_row(const ForwardWork& w, const Pair& pair) const {
    return key_row(w, pair);
  }

  // The arithmetic of one row.
  virtual float score(const ForwardWork& w, const Pair& pair) const;
  virtual float largest(const std::vector<float>& scores) const;
  virtual float weight(float score, float max) const;
  virtual float sum_of(const ForwardWork& w, const std::vector<float>& weights) const;
  /// Returns the factor of a value row.
  virtual float probability(const ForwardWork& w, const Pair& pair, float weight,
                            const Softmax& row) const;
  virtual Softmax softmax(const ForwardWork& w, Query q) const;
  virtual void finish(const ForwardWork&, Query, Softmax&, std::vector<float>& /*output*/) const {}

  // Writing the outputs.
  virtual std::int64_t replicas() const { return spec::statistics_replicas; }
  virtual float reported_max(const Softmax& row) const { return row.max; }
  virtual float reported_sum(const Softmax& row) const { return row.sum; }
  /// Returns the statistics of a row that sees no key.
  virtual Softmax empty() const;
  virtual bool writes_row(const ForwardWork&, Query) const { return true; }
  virtual float cast(const ForwardWork& w, float value) const;

 private:
  std::uint64_t runs_ = 0;  ///< shuffled places have a different order in every run
};

}  // namespace assay::mutants::selected_forward
