#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "attention/relations/relations.hpp"

/// Relations between the outputs of several runs of one kernel that every correct kernel fulfils:
/// no reference value takes part.
namespace assay::conformance::flash {

using Experiment = ExperimentOf<Trial>;
using Relation = RelationOf<Trial>;
using Piece = PieceOf<Op::Problem>;

/// The experiment that the gradients of `base` are those of its pieces, added where pieces share a
/// row.
Experiment rearranging(const Trial& base, std::vector<Piece> pieces);

/// Of which rows and keys may change places, and what may be split.
std::span<const Relation> rearranging_relations();
/// Of factors, sums and shifts of the numbers.
std::span<const Relation> arithmetic_relations();
/// Of two ways to say the same: masks, biases, dropout, channels, layouts, sequences.
std::span<const Relation> spelling_relations();

/// All of them. Errors of `relation`: std::invalid_argument naming those there are.
std::vector<const Relation*> relations();
const Relation& relation(std::string_view name);

/// One case for every relation and problem of its domain, and those of the cascade.
std::vector<FlashCase> relation_cases(std::uint64_t seed);

/// What is particular to this operator, see RelationExaminationOf.
struct Family {
  using Op = spec::FlashAttentionScoreGrad;
  using Trial = flash::Trial;
  using Relation = flash::Relation;

  static const Relation& relation_named(std::string_view name) { return relation(name); }
  static Trial trial_of(const FlashCase& c) { return flash::trial_of(c.problem, make_inputs(c)); }
  static Op::Inputs inputs_of(const Trial& trial) { return flash::inputs_of(trial); }
  static bool is_same_run(const Trial& a, const Trial& b) { return flash::is_same_run(a, b); }
  static FlashCase case_of(const Trial& trial, const FlashCase& asked);
  static Gradients gradients_of(const Op::Problem& problem, const Op::Outputs& outputs) {
    return flash::gradients_of(problem, outputs);
  }
  static Tolerances tolerances_of(const Trial& trial, const spec::NumericsProfile& profile);
  static Op::Problem dense_problem(const Op::Problem& problem) { return problem; }
};

using RelationExamination = RelationExaminationOf<Family>;

}  // namespace assay::conformance::flash
