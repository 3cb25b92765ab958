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

/// Small problems that together have: grouped heads, Dv < D, every mode, every mask shape and pse
/// shape except the compressed ones, dropout, rope, sequences of unequal length, sequences without
/// rows, fully masked rows, one row, one key.
std::vector<NamedProblem> small_problems();

/// A random multiple of 2^-6, uniform in (-1, 1): exact in every type of the operator.
double element(std::uint64_t seed, std::int64_t index);

/// The mask, pse and drop mask of a problem, contiguous.
struct OwnedSides {
  std::optional<spec::Tensor> atten_mask, pse_shift, drop_mask;
  SideInputs refer() const;
};

/// User masks exclude a third of the keys, and all keys of query 1. Compressed masks are all zeros:
/// the reference applies their rule and reads no element. The other tensors are random. Tensors
/// that the problem does not have are absent.
OwnedSides make_sides(const Problem& problem);

/// Random query, key, value, dy and rope parts. The statistics and attention_in are results of the
/// exact forward pass in type Real.
template <class Real>
Operands<Real> consistent_operands(const Problem& problem, const SideInputs& side);

/// The tensors of the operator. Element (b, n, s, d) is the same in every layout, striding and
/// order of the statistics. The values of the statistics and of attention_in are arbitrary.
Inputs make_inputs(const Problem& problem, spec::Striding striding);

/// All rows of the gradients, contiguous, in the order of `spec::Extents::row`.
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

/// Makes packed sequences of these lengths.
Problem with_lengths(Problem problem, std::vector<std::int64_t> lengths_q,
                     std::vector<std::int64_t> lengths_kv);

/// The layouts that can store sequences of the problem's lengths.
std::vector<spec::Layout> layouts_of(const Problem& problem);

}  // namespace assay::reference
