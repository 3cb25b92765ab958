#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "assay/reference/flash_attention_score_grad.hpp"

namespace assay::reference {

using Problem = spec::FlashAttentionScoreGrad::Problem;
using Inputs = spec::FlashAttentionScoreGrad::Inputs;

/// A problem, and a name that the test prints.
struct NamedProblem {
  std::string name;
  Problem problem;
};
inline void PrintTo(const NamedProblem& named, std::ostream* out) { *out << named.name; }

inline constexpr float largest_float = std::numeric_limits<float>::max();

/// Returns a problem with one head of size 1 and without masked pairs.
Problem one_head(std::int64_t queries, std::int64_t keys, double scale);

/// Returns a contiguous tensor with these elements.
spec::Tensor tensor_of(spec::DType dtype, const spec::Shape& shape,
                       const std::vector<double>& elements);

/// Returns small problems. Together they contain: grouped heads, Dv < D, every mode, every shape of
/// mask and bias except the compressed ones, dropout, rope, sequences of unequal length, sequences
/// without rows, fully masked rows, one row, one key.
std::vector<NamedProblem> small_problems();

/// Returns a random multiple of 2^-6, uniform in (-1, 1), which every data type of the operator
/// represents exactly.
double element(std::uint64_t seed, std::int64_t index);

/// The contiguous mask, bias (pse) and drop mask of a problem.
struct OwnedSides {
  std::optional<spec::Tensor> atten_mask, pse_shift, drop_mask;
  SideInputs refer() const;
};

/// Makes the mask, bias and drop mask. A user's mask excludes a third of the keys, and all keys of
/// query 1. A compressed mask contains only zeros, because the reference applies the rule of the
/// mode and reads no element. Bias and drop mask are random. Tensors that the problem does not have
/// are absent.
OwnedSides make_sides(const Problem& problem);

/// Makes random query, key, value, dy and rope parts. The statistics and attention_in are the
/// results of the exact forward pass, computed in type Real.
template <class Real>
Operands<Real> consistent_operands(const Problem& problem, const SideInputs& side);

/// Makes the input tensors of the operator. Element (b, n, s, d) is the same in every layout, with
/// all strides, and in both memory orders of the statistics. The statistics and attention_in are
/// arbitrary numbers.
Inputs make_inputs(const Problem& problem, spec::Striding striding);

/// All rows of the gradients. Each gradient is contiguous, in the order of `spec::Extents::row`.
template <class Real>
struct Gradients {
  std::vector<Real> dq, dk, dv, dq_rope, dk_rope;
  friend bool operator==(const Gradients&, const Gradients&) = default;
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

/// Returns the problem with packed sequences of these lengths.
Problem with_lengths(Problem problem, std::vector<std::int64_t> lengths_q,
                     std::vector<std::int64_t> lengths_kv);

/// Returns the layouts that can store sequences with the problem's lengths.
std::vector<spec::Layout> layouts_of(const Problem& problem);

}  // namespace assay::reference
