#pragma once

#include <cstdint>
#include <vector>

#include "assay/spec/compression.hpp"

/// The steps and faults of the plain kernels that NsaCompress and its gradient have in common.
namespace assay::mutants::compress {

using Problem = spec::CompressionProblem;

struct Sequence {
  std::int64_t first, length;  ///< tokens
};

/// A window of sequence b: its index in the sequence, its first token, and its row in the
/// compressed tensor.
struct TokenWindow {
  std::int64_t b, index, token, row;
};

/// The values of one call; all tensors are row-major without gaps. A tensor that the operator does
/// not have is empty.
struct WindowWork {
  const Problem& problem;
  std::int64_t tokens, rows;  ///< of input and of the compressed tensor
  std::vector<float> input, weight, output_grad;
  std::vector<double> output, input_grad, weight_grad;
  std::vector<std::vector<double>> core_sums;  ///< of weight_grad

  /// Returns the offset of channel 0 of head n in a token, or in a row of the compressed tensor.
  std::size_t at(std::int64_t row, std::int64_t n) const {
    return static_cast<std::size_t>((row * problem.heads + n) * problem.head_dim);
  }
  /// Returns the offset of weight k of head n.
  std::size_t weight_at(std::int64_t k, std::int64_t n) const {
    return static_cast<std::size_t>(k * problem.heads + n);
  }
};

/// Returns whether a window covers the token.
bool is_covered(const WindowWork& w, std::int64_t token);

/// The steps that NsaCompress and its gradient share. Every step is a virtual function, so that a
/// mutant (kernel with a fault) can override the step that contains the fault.
class WindowSteps {
 protected:
  ~WindowSteps() = default;

  std::vector<float> read(const spec::Tensor& tensor) const;
  /// Called after the kernel has read the tensors and set the sums to 0. A mutant (kernel with a
  /// fault) can change both here.
  virtual void prepare(WindowWork&) const {}
  virtual std::vector<Sequence> sequences(const WindowWork& w) const;
  virtual std::int64_t window_count(const WindowWork& w, std::int64_t length) const;
  virtual std::vector<TokenWindow> windows(const WindowWork& w) const;
  /// Returns the windows that one core processes: indices `first` to `last` in `all`.
  virtual std::vector<TokenWindow> windows_of_core(const WindowWork& w,
                                                   const std::vector<TokenWindow>& all,
                                                   std::size_t first, std::size_t last) const;
  /// Returns whether token k of the window takes part in the sums.
  virtual bool reaches(const WindowWork&, const TokenWindow&, std::int64_t /*k*/) const {
    return true;
  }
  virtual float weight(const WindowWork& w, std::int64_t k, std::int64_t n) const {
    return w.weight[w.weight_at(k, n)];
  }
  /// Called before the kernel writes the outputs. A mutant (kernel with a fault) can change the
  /// sums here.
  virtual void adjust(WindowWork&) const {}
  /// Returns whether the kernel writes this row (or token) of an output. Only for outputs with
  /// channels.
  virtual bool writes_row(const WindowWork&, std::int64_t /*row*/) const { return true; }
};

}  // namespace assay::mutants::compress
