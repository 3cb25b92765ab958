#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "assay/reference/flash_attention_score_grad.hpp"

namespace assay::reference {

using Problem = spec::FlashAttentionScoreGrad::Problem;
using Inputs = spec::FlashAttentionScoreGrad::Inputs;

/// A problem with a name for the test's output.
struct NamedProblem {
  std::string name;
  Problem problem;
};
inline void PrintTo(const NamedProblem& named, std::ostream* out) { *out << named.name; }

/// Small problems: grouped heads, Dv < D, every mode and mask shape, dead rows, one row, one key.
std::vector<NamedProblem> small_problems();

/// Uniform in (-1, 1), a multiple of 2^-6: exact in every type of the operator.
double element(std::uint64_t seed, std::int64_t index);

/// The mask of the problem, contiguous: user masks exclude a third of the keys and all keys of query 1; compressed
/// masks are all zeros, because the reference applies their predicate and reads no element. Nothing without mask.
std::optional<spec::Tensor> make_mask(const Problem& problem);
inline const spec::Tensor* pointer(const std::optional<spec::Tensor>& tensor) {
  return tensor ? &*tensor : nullptr;
}

/// Random query, key, value and dy, with the exact forward of type Real as statistics and attention_in.
template <class Real>
Operands<Real> consistent_operands(const Problem& problem, const spec::Tensor* atten_mask);

/// The tensors of the operator; element (b, n, s, d) is the same in every layout and striding. The statistics and
/// attention_in are arbitrary.
Inputs make_inputs(const Problem& problem, spec::Striding striding);

/// All rows of the three gradients, dense, (batch, heads, seq, dim).
template <class Real>
struct Gradients {
  std::vector<Real> dq, dk, dv;
};
template <class Real>
Gradients<Real> all_rows(const Problem& problem, const FlashAttentionScoreGrad<Real>& gradient);

template <class Real>
Real largest_magnitude(const std::vector<Real>& values) {
  Real largest(0);
  for (const Real& value : values)
    if (abs(value) > largest) largest = abs(value);
  return largest;
}

}  // namespace assay::reference
