#include "operators/nsa_selected_attention_grad/relations/relations.hpp"

#include <string>

#include "case/limits.hpp"
#include "judge/relations/list.hpp"
#include "operators/nsa_selected_attention_grad/dense.hpp"

namespace assay::conformance::selected {
namespace {

/// What is particular to this operator, see RelationExaminationOf.
struct Family {
  using Op = spec::NsaSelectedAttentionGrad;
  using Trial = selected::Trial;
  using Relation = selected::Relation;

  static const Relation& relation_named(std::string_view name) { return relation(name); }
  static Trial trial_of(const SelectedCase& c) {
    return selected::trial_of(c.problem, make_inputs(c));
  }
  static Op::Inputs inputs_of(const Trial& trial) { return selected::inputs_of(trial); }
  static bool is_same_run(const Trial& a, const Trial& b) { return selected::is_same_run(a, b); }
  static SelectedCase case_of(const Trial& trial, const SelectedCase& asked) {
    return {.problem = trial.problem,
            .product = asked.product,
            .inputs = trial.inputs,
            .outputs = trial.outputs,
            .upstream = asked.upstream};
  }
  static Gradients gradients_of(const Op::Problem& problem, const Op::Outputs& outputs) {
    return selected::gradients_of(problem, outputs);
  }
  static flash::Tolerances tolerances_of(const Trial& trial, const spec::NumericsProfile& profile) {
    return flash::run_tolerances(dense_of(trial.problem, inputs_of(trial)),
                                 Arithmetic(profile, trial.problem.dtype));
  }
  static flash::Op::Problem dense_problem(const Op::Problem& problem) {
    return selected::dense_problem(problem);
  }
};

}  // namespace

Experiment rearranging(const Trial& base, std::vector<Piece> pieces) {
  Experiment experiment{.base = base, .variants = {}, .combine = {}};
  std::vector<flash::PieceOf<flash::Op::Problem>> dense;
  for (Piece& piece : pieces) {
    experiment.variants.push_back(rearranged(base, piece.problem, piece.query, piece.key));
    dense.push_back({dense_problem(piece.problem), std::move(piece.query), std::move(piece.key)});
  }
  experiment.combine = flash::adding(dense_problem(base.problem), std::move(dense));
  return experiment;
}

std::vector<const Relation*> relations() {
  return relation_list({list_relations(), rearranging_relations(), arithmetic_relations()});
}

const Relation& relation(std::string_view name) { return relation_named(relations(), name); }

std::vector<SelectedCase> relation_cases(std::uint64_t seed) {
  std::vector<SelectedCase> cases;
  for (const Relation* relation : relations())
    for (const Op::Problem& problem : relation->problems()) {
      SelectedCase c{.problem = problem,
                     .track = Track::relation,
                     .patterns = {.lists = std::string(relation->lists)}};
      c.relation = relation->name;
      c.seed = seed + cases.size();
      cases.push_back(std::move(c));
    }
  return cases;
}

}  // namespace assay::conformance::selected

namespace assay::conformance {

CaseReport examine_relation(const selected::SelectedCase& c,
                            spec::Implementation<selected::Op>& kernel) {
  return flash::RelationExaminationOf<selected::Family>(c).examine(kernel);
}

}  // namespace assay::conformance
