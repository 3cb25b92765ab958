#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "case/lengths.hpp"
#include "plan/draws.hpp"
#include "selection/plan/factors.hpp"
#include "selection/problem.hpp"

namespace assay::conformance::selection {

/// Each of these functions returns the class of a problem for one property, such as the head sizes
/// or the number of queries.
HeadDims head_dims_of(const Problem& problem);
Group group_of(const Problem& problem);
BlockCount block_count_of(const Problem& problem);
Queries queries_of(const Problem& problem);
Keys keys_of(const Problem& problem);
Batch batch_of(const Problem& problem);

/// Limits of the number of pairs (query row, listed key) in a case with the chosen classes: the
/// smallest possible number, and the largest number that is affordable. A long sequence with one
/// head may have more pairs, because only some of its rows are judged.
double fewest_entries(const Categories& chosen);
double most_entries(const Categories& chosen);
/// Limits of the total number of keys in all heads and sequences: the smallest possible number, and
/// the largest number that is affordable. The test generates, multiplies and checks all keys.
double fewest_keys(const Categories& chosen);
double most_keys(const Categories& chosen);

/// Estimates the lowest cost (seconds) of a gradient case with the chosen classes. Uses the formula
/// of `SuiteOf::expected_cost`, with a larger constant term than for the cheapest cases.
double least_cost(const Categories& chosen);

/// A random problem, and the seed of the case that contains it.
struct Seeded {
  Problem problem;
  std::uint64_t seed = 1;
};
/// Makes a random problem that belongs to the given classes. It has about `budget` pairs of a query
/// row and a listed key, as far as the classes allow.
Seeded draw_problem(const Categories& chosen, double budget, std::uint64_t seed);

template <class Op>
Case<Op> draw_case(const Categories& k, double budget, std::uint64_t seed) {
  const auto [problem, of_case] = draw_problem(k, budget, seed);
  return {.problem = problem,
          .product = k.product,
          .inputs = k.inputs,
          .outputs = k.outputs,
          .track = k.track,
          .profile = std::string(k.profile),
          .patterns = {.lists = std::string(k.lists)},
          .seed = of_case};
}

/// A small test problem, with the kind of check and the seed for its case. A set of such problems
/// covers every group size and every list length.
struct Counted {
  Problem problem;
  Track track = Track::bound;
  std::uint64_t seed = 1;
  std::string_view note;
};
/// Returns a problem with more than 65535 tokens. It has many sequences and at least one judged row
/// in each of them, so that many rows are judged.
Counted with_many_tokens(std::uint64_t seed);
/// Returns small problems. The problems of three consecutive seeds cover every group size (query
/// heads per key head) and every list length, in both types. Some problems have about as many
/// tokens as a chip has cores; some have block indices of more than 8 bits.
std::vector<Counted> counted_problems(std::uint64_t seed);

template <class Op>
std::vector<Case<Op>> cases_of(const std::vector<Counted>& counted) {
  std::vector<Case<Op>> cases;
  for (const auto& [problem, track, seed, note] : counted) {
    Case<Op>& c = cases.emplace_back(Case<Op>{.problem = problem, .note = std::string(note)});
    c.track = track, c.seed = seed;
  }
  return cases;
}

}  // namespace assay::conformance::selection
