#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "attention/relations/relations.hpp"
#include "operators/nsa_selected_attention_grad/plan/sampling.hpp"
#include "operators/nsa_selected_attention_grad/relations/trial.hpp"

/// Relations between the outputs of several runs of one kernel that every correct kernel fulfils.
namespace assay::conformance::selected {

using flash::on_grid;
using flash::round_statistics;
using flash::sum;
using flash::times;
using flash::unchanged;
using Experiment = flash::ExperimentOf<Trial>;
using Piece = flash::PieceOf<Op::Problem>;

/// The experiment that the gradients of `base` are those of its pieces, added where pieces share a
/// row.
Experiment rearranging(const Trial& base, std::vector<Piece> pieces);

struct Relation : flash::RelationOf<Trial> {
  std::string_view lists = "shuffled";  ///< the pattern of its problems' lists
};

/// Of what lists name, in which order and how often.
std::span<const Relation> list_relations();
/// Of which rows may change places, and what may be split.
std::span<const Relation> rearranging_relations();
/// Of factors, sums and shifts of the numbers.
std::span<const Relation> arithmetic_relations();

/// All of them. Errors of `relation`: std::invalid_argument naming those there are.
std::vector<const Relation*> relations();
const Relation& relation(std::string_view name);

/// One case for every relation and problem of its domain.
std::vector<SelectedCase> relation_cases(std::uint64_t seed);

}  // namespace assay::conformance::selected
