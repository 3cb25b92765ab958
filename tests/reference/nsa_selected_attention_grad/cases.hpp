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

/// The order of the blocks in a list of selected blocks.
enum class ListKind : std::uint8_t { ascending, shuffled, duplicates, all_equal };

/// A problem, the order of the blocks in its lists, and a name that the test prints.
struct NamedSelection {
  std::string name;
  SelectedProblem problem;
  ListKind kind = ListKind::ascending;
};
inline void PrintTo(const NamedSelection& named, std::ostream* out) { *out << named.name; }

/// Returns problems with all combinations of these properties: mask (none, zeros in mode 0, causal
/// in mode 2), order of the blocks in a list, group size, head sizes (Dv below, equal to or above
/// D), and lengths (equal, more queries, or fewer queries than keys). Each list has 2 blocks of 2
/// keys.
std::vector<NamedSelection> small_selections();

/// Returns the problem with sparse mode 2 and its mask.
SelectedProblem causal(SelectedProblem problem);

/// Makes the block lists of all queries and key heads. If the problem has a causal mask, every
/// query attends to at least one key of its list.
std::vector<std::int64_t> make_lists(const SelectedProblem& problem, ListKind kind);

/// Makes random query, key, value and gradient. The statistics and the output are the results of
/// the exact forward pass, computed in type Real.
template <class Real>
SelectedOperands<Real> consistent_operands(const SelectedProblem& problem,
                                           std::vector<std::int64_t> topk_indices);

/// Computes a forward pass, and stores its statistics and output in the operands.
template <class Real>
void make_consistent(const SelectedProblem& problem, SelectedOperands<Real>& operands);

/// All rows of the gradients. Each gradient is contiguous, in the order of `spec::Extents::row`.
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
