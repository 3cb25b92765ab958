#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "assay/spec/implementation.hpp"
#include "assay/spec/operators/flash_attention_score_grad.hpp"

namespace assay::mutants {

/// What of an implementation the planted bug (or the healthy choice) touches. forward: only results
/// of its own forward; many_calls: numbers of a few calls among many, which a sweep meets and the
/// kill table, with a new kernel for each of its cases, does not.
enum class Subject : std::uint8_t { numbers, arguments, forward, many_calls };

/// What is known of an implementation beforehand.
struct MutantFacts {
  std::string name;
  std::string bug;  ///< one sentence; of a healthy one: what it does its own way
  bool healthy;
  Subject subject;
};

/// An implementation of Op whose verdict is known beforehand.
template <class Op>
struct MutantOf {
  std::string name;
  std::string bug;
  bool healthy;
  Subject subject;
  std::function<std::unique_ptr<spec::Implementation<Op>>()> make;

  MutantFacts facts() const { return {name, bug, healthy, subject}; }
};

using Mutant = MutantOf<spec::FlashAttentionScoreGrad>;

/// Every mutant of Op, healthy ones first. Each declares the numerics of the healthy kernel that
/// it is or derives from.
template <class Op>
std::vector<MutantOf<Op>> mutants();

/// Bugs that nobody thought of: each step of the plain kernel of Op with each change of its number
/// at each of some places. Their names begin with "grown_".
template <class Op>
std::vector<MutantOf<Op>> grown_mutants();

/// Healthy kernels that do what each numerics preset declares, and others with statistics of their
/// own. They are not among `mutants`: some presets are too loose for the kill table.
std::vector<Mutant> preset_kernels();

}  // namespace assay::mutants
