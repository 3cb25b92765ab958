#pragma once

#include <cstdint>
#include <vector>

#include "assay/spec/compression.hpp"

/// The steps and faults that the plain kernels of NsaCompress and its gradient share.
namespace assay::mutants::compress {

using Problem = spec::CompressionProblem;

struct Sequence {
  std::int64_t first, length;  ///< tokens
};

/// Window `index` of sequence b: its first token, and its row in the compressed tensor.
struct TokenWindow {
  std::int64_t b, index, token, row;
};

/// The values of one call, all tensors row-major without gaps. Tensors that the operator does not
/// have are empty.
struct WindowWork {
  const Problem& problem;
  std::int64_t tokens, rows;  ///< of input and of the compressed tensor
  std::vector<float> input, weight, output_grad;
  std::vector<double> output, input_grad, weight_grad;
  std::vector<std::vector<double>> core_sums;  ///< of weight_grad

  /// Offset of channel 0 of a head, from the start of a token or of a row of the compressed tensor.
  std::size_t at(std::int64_t row, std::int64_t n) const {
    return static_cast<std::size_t>((row * problem.heads + n) * problem.head_dim);
  }
  /// Offset of weight k of a head.
  std::size_t weight_at(std::int64_t k, std::int64_t n) const {
    return static_cast<std::size_t>(k * problem.heads + n);
  }
};

/// Returns whether a window covers the token.
bool is_covered(const WindowWork& w, std::int64_t token);

/// The steps that both operators share. Every step is a virtual function, so that a mutant
/// overrides the step that it gets wrong.
class WindowSteps {
 protected:
  ~WindowSteps() = default;

  std::vector<float> read(const spec::Tensor& tensor) const;
  /// Called after the tensors were read and the sums were set to 0. A mutant can change both.
  virtual void prepare(WindowWork&) const {}
  virtual std::vector<Sequence> sequences(const WindowWork& w) const;
  virtual std::int64_t window_count(const WindowWork& w, std::int64_t length) const;
  virtual std::vector<TokenWindow> windows(const WindowWork& w) const;
  /// Returns the windows that one core processes: those from `first` to `last` in `all`.
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
  /// Called before the outputs are written. A mutant can change the sums.
  virtual void adjust(WindowWork&) const {}
  /// Returns whether the kernel writes this token or row of an output with channels.
  virtual bool writes_row(const WindowWork&, std::int64_t /*row*/) const { return true; }
};

}  // namespace assay::mutants::compress
