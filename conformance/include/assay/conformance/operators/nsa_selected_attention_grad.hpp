#pragma once

#include <concepts>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "assay/conformance/case/case.hpp"
#include "assay/conformance/inputs/inputs.hpp"
#include "assay/conformance/judge/exact.hpp"
#include "assay/conformance/judge/examination.hpp"
#include "assay/conformance/operators/flash_attention_score_grad.hpp"
#include "assay/spec/numerics.hpp"
#include "assay/spec/operators/nsa_selected_attention_grad.hpp"

namespace assay::conformance {

/// What a profile leaves open: the lists.
template <>
struct Patterns<spec::NsaSelectedAttentionGrad> {
  std::string lists = "shuffled";  ///< which blocks the queries list

  friend bool operator==(const Patterns&, const Patterns&) = default;
};

template <class PatternsOfOp, class Visitor>
requires std::same_as<std::remove_const_t<PatternsOfOp>, Patterns<spec::NsaSelectedAttentionGrad>>
void visit_fields(PatternsOfOp& patterns, Visitor&& visit) {
  visit("lists", patterns.lists, "pattern of the lists of blocks");
}

/// Named contents of topk_indices: shuffled, identity, duplicates, ...
std::span<const InputProfile> list_patterns();

/// The lists that the case passes, strided as its inputs: the pattern `c.patterns.lists`. Every
/// index names a whole block of its query's sequence; under the causal mask every query sees a key
/// of a block that it lists.
spec::Tensor make_topk_indices(const Case<spec::NsaSelectedAttentionGrad>& c);

/// The mask that the case passes: the triangle of sparse mode 2, zeros in mode 0. Nothing where the
/// problem has none.
std::optional<spec::Tensor> make_mask(const Case<spec::NsaSelectedAttentionGrad>& c);

/// The tensors of a track B case, forward included: statistics and attention_out are what the
/// forward of the reference computes, rounded as the operator stores them; every one strided as the
/// case says.
spec::NsaSelectedAttentionGrad::Inputs make_inputs(const Case<spec::NsaSelectedAttentionGrad>& c);

/// Outputs with the case's striding whose storage, viewed elements included, holds a poison
/// pattern.
spec::NsaSelectedAttentionGrad::Outputs make_outputs(const Case<spec::NsaSelectedAttentionGrad>& c);

/// A case whose correct outputs are known exactly, whatever the order of summation.
struct SelectedLattice {
  spec::NsaSelectedAttentionGrad::Inputs inputs;
  LatticeCase dense;  ///< the same case as attention to the listed keys
};

/// The exact gradients by their names, with their rows and channels.
std::vector<ExactTensor> exact_tensors(const SelectedLattice& lattice,
                                       const spec::NsaSelectedAttentionGrad::Problem& problem);

/// Builds the lattice case of track a1 or a2 for kernels of this profile. Errors: NoLattice.
SelectedLattice make_lattice(const Case<spec::NsaSelectedAttentionGrad>& c,
                             const spec::NumericsProfile& numerics);

/// Compares every element of the judged rows with the exact gradients, as judge_exact does.
/// Errors: std::invalid_argument if the outputs do not have the problem's shapes.
void judge_lattice(const SelectedLattice& lattice,
                   const spec::NsaSelectedAttentionGrad::Problem& problem,
                   const spec::NsaSelectedAttentionGrad::Outputs& outputs,
                   const spec::NumericsProfile& numerics, CaseReport& report);

/// What the documents leave open about a legal call that breaks no row, so that its refusal
/// convicts nobody; else empty.
std::string open_reading(const Case<spec::NsaSelectedAttentionGrad>& c);

/// Of one backward, roughly.
double multiply_adds(const spec::NsaSelectedAttentionGrad::Problem& problem);

/// Rough cost of a case in seconds, for the time left; only ratios matter.
double expected_cost(const Case<spec::NsaSelectedAttentionGrad>& c);

/// Elements of query and key of all heads.
std::int64_t tensor_elements(const spec::NsaSelectedAttentionGrad::Problem& problem);

/// Judges a case of track relation: one of the operator's relations.
CaseReport examine_relation(const Case<spec::NsaSelectedAttentionGrad>& c,
                            spec::Implementation<spec::NsaSelectedAttentionGrad>& kernel);

}  // namespace assay::conformance
