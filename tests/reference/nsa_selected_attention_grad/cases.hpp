#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "assay/reference/nsa_selected_attention.hpp"
#include "assay/reference/nsa_selected_attention_grad.hpp"

namespace assay::reference {

using SelectedProblem = spec::NsaSelectedAttentionGrad::Problem;
using SelectedInputs = spec::NsaSelectedAttentionGrad::Inputs;

/// The order of the blocks in a list.
enum class ListKind : std::uint8_t { ascending, shuffled, duplicates, all_equal };

/// A problem and the kind of its lists, with a name for the test's output.
struct NamedSelection {
  std::string name;
  SelectedProblem problem;
  ListKind kind = ListKind::ascending;
};
inline void PrintTo(const NamedSelection& named, std::ostream* out) { *out << named.name; }

/// Every combination of mask (none, zeros in mode 0, causal in mode 2), kind of list, group size,
/// head sizes (Dv below, equal to and above D) and lengths (equal, or unequal with more and with
/// fewer queries than keys). Lists have 2 blocks of 2 keys.
std::vector<NamedSelection> small_selections();

/// The problem with sparse mode 2 and its mask.
SelectedProblem causal(SelectedProblem problem);

/// The lists of all queries and key heads. With the mask, every query attends to at least one key
/// of its list.
std::vector<std::int64_t> make_lists(const SelectedProblem& problem, ListKind kind);

/// Random query, key, value and gradient. Statistics and output are results of the exact forward
/// pass in type Real.
template <class Real>
SelectedOperands<Real> consistent_operands(const SelectedProblem& problem,
                                           std::vector<std::int64_t> topk_indices);

/// Sets statistics and output to the results of the forward pass.
template <class Real>
void make_consistent(const SelectedProblem& problem, SelectedOperands<Real>& operands);

/// All rows of the gradients, contiguous, in the order of `spec::Extents::row`.
template <class Real>
struct SelectedGradients {
  std::vector<Real> dq, dk, dv;
  friend bool operator==(const SelectedGradients&, const SelectedGradients&) = default;
};
template <class Real>
SelectedGradients<Real> all_rows(const SelectedProblem& problem,
                                 const NsaSelectedAttentionGrad<Real>& gradient);
template <class Real>
SelectedGradients<Real> all_rows(const SelectedProblem& problem,
                                 const SelectedOperands<Real>& operands) {
  return all_rows(problem, NsaSelectedAttentionGrad<Real>(problem, operands));
}

}  // namespace assay::reference
