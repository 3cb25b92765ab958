#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "operators/attention_relations.hpp"
#include "operators/nsa_selected_attention_grad_sampling.hpp"
#include "operators/nsa_selected_attention_grad_trial.hpp"

/// Relations between the outputs of several runs of one kernel that every correct kernel fulfils.
namespace assay::conformance::selected {

using Experiment = ExperimentOf<Trial>;

struct Relation : RelationOf<Trial> {
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
