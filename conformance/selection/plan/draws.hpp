#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "case/lengths.hpp"
#include "plan/draws.hpp"
#include "selection/plan/factors.hpp"
#include "selection/problem.hpp"

namespace assay::conformance::selection {

/// The classes of a problem.
HeadDims head_dims_of(const Problem& problem);
Group group_of(const Problem& problem);
BlockCount block_count_of(const Problem& problem);
Queries queries_of(const Problem& problem);
Keys keys_of(const Problem& problem);
Batch batch_of(const Problem& problem);

/// Limits of the number of pairs of query row and listed key in a case with this choice: the
/// smallest possible number, and the largest number that is not too costly. In a long sequence of
/// one head, more pairs are possible, because only some rows are judged.
double fewest_entries(const Categories& chosen);
double most_entries(const Categories& chosen);
/// Limits of the number of keys in all heads and sequences together: the smallest possible number,
/// and the largest number that is not too costly. All keys are generated, multiplied and checked.
double fewest_keys(const Categories& chosen);
double most_keys(const Categories& chosen);

/// Returns the lowest cost of a case with this choice, in seconds, as `SuiteOf::expected_cost`
/// computes it for the gradient. The constant part is larger than in the cheapest case.
double least_cost(const Categories& chosen);

/// A drawn problem, and the seed of its case.
struct Seeded {
  Problem problem;
  std::uint64_t seed = 1;
};
/// Draws a problem of the categories with about `budget` pairs of query row and listed key, as far
/// as the categories allow this.
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

/// One of the small problems that together have all sizes, and how it is judged.
struct Counted {
  Problem problem;
  Track track = Track::bound;
  std::uint64_t seed = 1;
  std::string_view note;
};
/// A problem with more tokens than 16 bits can count, in many sequences. A judged row in each
/// sequence gives many judged rows.
Counted with_many_tokens(std::uint64_t seed);
/// Returns small problems. With three consecutive seeds they have all group sizes and list lengths
/// in both types. Some have a number of tokens next to a number of cores, or block indices of more
/// than 8 bits.
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
