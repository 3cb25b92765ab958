#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "assay/spec/numerics.hpp"
#include "assay/spec/passes_on.hpp"
#include "assay/spec/tensor.hpp"

namespace assay::conformance::testing {

/// A kernel wrapper that changes the outputs after each run, and can declare another arithmetic.
template <class Op>
class Changed : public spec::PassesOn<Op> {
 public:
  using Change = std::function<void(const typename Op::Problem&, typename Op::Outputs&)>;
  using Declare = std::function<void(spec::Numerics&)>;

  Changed(spec::Implementation<Op>& kernel, Change change, Declare declare = {})
      : spec::PassesOn<Op>(kernel), change_(std::move(change)), declare_(std::move(declare)) {}

  spec::Numerics numerics(const typename Op::Problem& problem) const override {
    spec::Numerics numerics = this->inner_.numerics(problem);
    if (declare_) declare_(numerics);
    return numerics;
  }
  void run(const typename Op::Problem& problem, const typename Op::Inputs& inputs,
           typename Op::Outputs& outputs) override {
    this->inner_.run(problem, inputs, outputs);
    change_(problem, outputs);
  }
  void run_call(const spec::Call<Op>& call, const typename Op::Problem& problem,
                const typename Op::Inputs& inputs, typename Op::Outputs& outputs) override {
    this->inner_.run_call(call, problem, inputs, outputs);
    change_(problem, outputs);
  }

 private:
  Change change_;
  Declare declare_;
};

/// Replaces the softmax statistics m (maximum) and z (sum) of every row by the two numbers that the
/// function `of` returns for them.
template <class Tensors, class Function>
void change_statistics(Tensors& tensors, const Function& of) {
  const std::vector<std::int64_t> of_max = viewed_elements(tensors.softmax_max),
                                  of_sum = viewed_elements(tensors.softmax_sum);
  for (std::size_t k = 0; k < of_max.size(); ++k) {
    const auto [m, z] =
        of(tensors.softmax_max.load(of_max[k]), tensors.softmax_sum.load(of_sum[k]));
    tensors.softmax_max.store(of_max[k], m);
    tensors.softmax_sum.store(of_sum[k], z);
  }
}

}  // namespace assay::conformance::testing
