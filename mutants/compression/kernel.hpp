#pragma once

#include <cstdint>
#include <vector>

#include "bilinear/sums.hpp"
#include "compression/windows.hpp"

namespace assay::mutants::compress {

using bilinear::in_16_bits, bilinear::in_fp32, bilinear::SummingPlan, bilinear::sum_of,
    bilinear::Summation, bilinear::SummingKernel, bilinear::TermOrder;

/// A plain compression kernel that processes one window after the other.
template <class Op>
class WindowKernel : public SummingKernel<Op>, protected WindowSteps {
 public:
  using SummingKernel<Op>::SummingKernel;

  void run(const Problem& problem, const typename Op::Inputs& inputs,
           typename Op::Outputs& outputs) override {
    this->begin_run();
    WindowWork w = {.problem = problem,
                    .tokens = inputs.input.shape[0],
                    .rows = spec::output_shape(problem)[0],
                    .input = read(inputs.input),
                    .weight = read(inputs.weight)};
    begin(w, inputs, outputs);
    prepare(w);
    const std::vector<TokenWindow> all = windows(w);
    const auto cores = static_cast<std::size_t>(this->plan().cores);
    for (std::size_t core = 0; core < cores; ++core) {
      std::vector<TokenWindow> own =
          windows_of_core(w, all, core * all.size() / cores, (core + 1) * all.size() / cores);
      this->arrange(own, core);
      for (const TokenWindow& window : own)
        if (window.row < w.rows) add_window(w, window, core);
    }
    end(w, outputs);
  }

 protected:
  /// Reads the tensors that the common code does not read, and sets the sums to 0.
  virtual void begin(WindowWork& w, const typename Op::Inputs& inputs,
                     const typename Op::Outputs& outputs) const = 0;
  virtual void add_window(WindowWork& w, const TokenWindow& window, std::size_t core) const = 0;
  /// Completes the sums, calls `adjust` (the step that a fault can replace) and writes the outputs.
  virtual void end(WindowWork& w, typename Op::Outputs& outputs) const = 0;
  void store(const WindowWork& w, const std::vector<double>& values, spec::Tensor& tensor) const {
    const bool has_channels = tensor.shape.size() == 3;
    const std::int64_t row_size = has_channels ? w.problem.heads * w.problem.head_dim : 1;
    std::int64_t next = 0;
    for (const std::int64_t element : viewed_elements(tensor)) {
      const std::int64_t number = next++;
      if (!has_channels || writes_row(w, number / row_size))
        tensor.store(element, this->cast(w.problem, values[static_cast<std::size_t>(number)]));
    }
  }
};

}  // namespace assay::mutants::compress
