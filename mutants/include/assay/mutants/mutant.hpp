#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "assay/spec/implementation.hpp"
#include "assay/spec/operators/flash_attention_score_grad.hpp"

namespace assay::mutants {

/// The part of a kernel that the injected fault (or the unusual choice of a correct variant)
/// affects. forward: only the results of the kernel's own forward. many_calls: the results of a few
/// calls among many. The kill table makes a new kernel for each case, so it cannot find a fault of
/// the kind many_calls; a sweep of many calls finds it.
enum class Subject : std::uint8_t { numbers, arguments, forward, many_calls };

/// The description of a mutant. The name describes the fault without the operator, and is unique
/// within the operator. The first word of some names is the kind of fault: "without_ID" (does not
/// check the requirement ID), "public_" (reported for a public kernel),
/// "generated_STEP_CHANGE_PLACE" (generated).
struct MutantFacts {
  std::string operator_name;
  std::string name;
  std::string bug;  ///< one sentence; if healthy: its unusual choice
  bool healthy;
  Subject subject;
};

/// An implementation of Op with a known expected verdict: it has an injected fault, or is a correct
/// variant ("healthy").
template <class Op>
struct MutantOf {
  std::string name;
  std::string bug;
  bool healthy;
  Subject subject;
  std::function<std::unique_ptr<spec::Implementation<Op>>()> make;
  /// True if the fault is in a step that the mutant's own forward also uses.
  bool changes_forward = false;

  MutantFacts facts() const { return {std::string(Op::name), name, bug, healthy, subject}; }
};

using Mutant = MutantOf<spec::FlashAttentionScoreGrad>;

/// Returns every mutant of Op, the correct variants (`healthy`) first. A mutant with a fault
/// declares the same numerics (roundings and summation) as the correct kernel from which it is
/// derived.
template <class Op>
std::vector<MutantOf<Op>> mutants();

/// Returns the mutants with generated faults: for each step of the plain kernel of Op, each kind of
/// change at several places. Their names start with "generated_".
template <class Op>
std::vector<MutantOf<Op>> generated_mutants();

/// Returns mutants with generated faults in the forward steps of the plain gradient kernel.
std::vector<Mutant> generated_forward_mutants();

/// Returns correct kernels that follow each numerics preset (a named description of a known
/// kernel's roundings), and kernels that compute their own statistics. `mutants` does not return
/// them, because some presets have too wide tolerances for the kill table.
std::vector<Mutant> preset_kernels();

}  // namespace assay::mutants
