#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "assay/spec/implementation.hpp"
#include "assay/spec/operators/flash_attention_score_grad.hpp"

namespace assay::mutants {

/// The part of an implementation that the injected fault affects (or, in a correct variant, its
/// unusual choice). forward: only results of the mutant's own forward. many_calls: results of a few
/// calls among many. A sweep finds such a fault, but the kill table does not, because it makes a
/// new kernel for each case.
enum class Subject : std::uint8_t { numbers, arguments, forward, many_calls };

/// The known facts about a mutant. A name states the fault, not the operator, and is unique within
/// the operator. It begins with the kind of some faults: "without_ID" (a requirement that the
/// kernel does not check), "public_" (reported for a public kernel), "generated_STEP_CHANGE_PLACE"
/// (generated).
struct MutantFacts {
  std::string operator_name;
  std::string name;
  std::string bug;  ///< one sentence; if healthy: its unusual choice
  bool healthy;
  Subject subject;
};

/// An implementation of Op whose expected verdict is known: it has an injected fault, or is a
/// correct variant ("healthy").
template <class Op>
struct MutantOf {
  std::string name;
  std::string bug;
  bool healthy;
  Subject subject;
  std::function<std::unique_ptr<spec::Implementation<Op>>()> make;
  /// The fault is in a step that the mutant's own forward uses, too.
  bool changes_forward = false;

  MutantFacts facts() const { return {std::string(Op::name), name, bug, healthy, subject}; }
};

using Mutant = MutantOf<spec::FlashAttentionScoreGrad>;

/// Returns every mutant of Op, the correct variants (`healthy`) first. A mutant with a fault
/// declares the numerics of the correct kernel from which it is derived.
template <class Op>
std::vector<MutantOf<Op>> mutants();

/// Returns the generated faults: for each step of the plain kernel of Op, each kind of change at
/// several places. Their names start with "generated_".
template <class Op>
std::vector<MutantOf<Op>> generated_mutants();

/// Returns generated faults in the forward of the plain kernel of the gradient.
std::vector<Mutant> generated_forward_mutants();

/// Returns correct kernels that follow each numerics preset, and kernels that compute their own
/// statistics. Not among `mutants`, because some presets are too loose for the kill table.
std::vector<Mutant> preset_kernels();

}  // namespace assay::mutants
