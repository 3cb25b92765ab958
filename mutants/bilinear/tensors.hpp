#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/mutants/mutant.hpp"
#include "assay/spec/tensor.hpp"

/// Faults in the reading or writing of one tensor (tokens, heads, channels; channels may be
/// missing). These faults need no special kernel: a correct kernel runs on changed inputs, or its
/// outputs are changed after the run.
namespace assay::mutants::bilinear {

/// The values of a tensor, row-major without gaps.
struct Values {
  spec::Shape shape;
  std::vector<double> numbers;

  std::int64_t tokens() const { return shape[0]; }
  std::int64_t heads() const { return shape[1]; }
  std::int64_t channels() const { return shape.size() > 2 ? shape[2] : 1; }
  double& at(std::int64_t token, std::int64_t head, std::int64_t channel) {
    return numbers[static_cast<std::size_t>((token * heads() + head) * channels() + channel)];
  }
  double at(std::int64_t token, std::int64_t head, std::int64_t channel) const {
    return const_cast<Values&>(*this).at(token, head, channel);
  }
};

Values values_of(const spec::Tensor& tensor);
/// Writes the values to a tensor of the same shape.
void store(const Values& values, spec::Tensor& tensor);

/// A fault in one tensor. It changes the values of an input before the kernel uses them, or the
/// values of an output before they are written. `old`: the values in the output's memory before the
/// run.
struct TensorFault {
  std::string_view name, bug;  ///< the bug is said of the tensor, as "is 0"
  void (*change)(Values& values, const Values& old);
};

/// Returns the tensor fault with this name. Errors: std::invalid_argument for an unknown name.
const TensorFault& input_fault(std::string_view name);
const TensorFault& output_fault(std::string_view name);

/// Returns a contiguous tensor that has the changed values.
spec::Tensor misread(const spec::Tensor& tensor, const TensorFault& fault);

/// A kernel that reads one input, or writes one output, with a fault.
template <class Op, class Kernel, auto member>
class Tampered : public Kernel {
 public:
  template <class Plan>
  Tampered(std::string name, const Plan& plan, const TensorFault& fault)
      : Kernel(std::move(name), plan), fault_(fault) {}

  void run(const typename Op::Problem& problem, const typename Op::Inputs& inputs,
           typename Op::Outputs& outputs) override {
    if constexpr (requires { inputs.*member; }) {
      typename Op::Inputs changed = inputs;
      changed.*member = misread(inputs.*member, fault_);
      Kernel::run(problem, changed, outputs);
    } else {
      const Values old = values_of(outputs.*member);
      Kernel::run(problem, inputs, outputs);
      Values values = values_of(outputs.*member);
      fault_.change(values, old);
      store(values, outputs.*member);
    }
  }

 private:
  TensorFault fault_;
};

/// A kernel that ignores gaps in memory: it reads its inputs (or writes its outputs) as if they
/// were contiguous.
template <class Op, class Kernel, bool of_inputs>
struct StridesIgnored : Kernel {
  void run(const typename Op::Problem& problem, const typename Op::Inputs& inputs,
           typename Op::Outputs& outputs) override {
    typename Op::Inputs changed = inputs;
    std::vector<spec::Shape> right;
    const auto ignore = [&](std::string_view, spec::Tensor& tensor) {
      right.push_back(std::exchange(tensor.strides, spec::contiguous_strides(tensor.shape)));
    };
    if (of_inputs)
      visit_fields(changed, ignore);
    else
      visit_fields(outputs, ignore);
    Kernel::run(problem, changed, outputs);
    std::size_t k = 0;
    if (!of_inputs)
      visit_fields(outputs,
                   [&](std::string_view, spec::Tensor& tensor) { tensor.strides = right[k++]; });
  }
};

/// A kernel that ignores the offset of one input: it reads that input from the start of its
/// storage.
template <class Op, class Kernel, auto member>
struct OffsetIgnored : Kernel {
  void run(const typename Op::Problem& problem, const typename Op::Inputs& inputs,
           typename Op::Outputs& outputs) override {
    typename Op::Inputs changed = inputs;
    (changed.*member).offset = 0;
    Kernel::run(problem, changed, outputs);
  }
};

}  // namespace assay::mutants::bilinear
