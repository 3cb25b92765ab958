#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "judge/relations/comparison.hpp"
#include "judge/relations/trial.hpp"

/// Relations between the outputs of several runs of one kernel. Every correct kernel satisfies
/// them, and no reference values are needed.
namespace assay::conformance {

/// The allowed difference between two runs, for each element. tau: a correct kernel stays within
/// this limit with high probability. tau_det: a correct kernel always stays within this limit.
struct Tolerances {
  OutputValues tau = {}, tau_det = {};
  bool consistent = true;  ///< true if the numerics may be judged on the data of every run
};

/// A function that computes predicted outputs from the outputs of several runs.
using Combination = std::function<OutputValues(const std::vector<OutputValues>&)>;

/// Predicts the outputs of the run `base` from the outputs of the runs `variants`. Outputs that
/// `combine` does not return are not predicted. `combine` may only add elements, move them, and
/// multiply them by non-negative numbers, because it also combines tolerances.
template <class Op>
struct Experiment {
  Trial<Op> base;
  std::vector<Trial<Op>> variants;
  Combination combine;
  /// Set only if the relation does not compare the outputs element by element. Returns a decision
  /// from the outputs of `base`.
  std::function<Decision(const OutputValues& actual, const Tolerances& allowed,
                         std::string_view sentence, CaseReport& report)>
      compare = {};
};

template <class Op>
struct Relation {
  using Problem = typename Op::Problem;

  std::string_view name, sentence;
  Agreement agreement;
  /// Returns whether the relation holds for this problem. `domain` says in words for which problems
  /// it holds.
  bool (*applies)(const Problem&);
  std::string_view domain;
  Experiment<Op> (*prepare)(const Trial<Op>& base);
};

/// Conditions on the problem that many relations use.
template <class Problem>
bool is_anything(const Problem&) {
  return true;
}
template <class Problem>
bool is_fp16(const Problem& problem) {
  return problem.dtype == spec::DType::fp16;
}
template <class Problem>
bool is_not_fp16(const Problem& problem) {
  return !is_fp16(problem);
}

/// Returns all relations of several lists, in the order of the arguments.
template <class Op>
std::vector<const Relation<Op>*> relation_list(
    std::initializer_list<std::span<const Relation<Op>>> groups) {
  std::vector<const Relation<Op>*> all;
  for (const auto group : groups)
    for (const Relation<Op>& relation : group) all.push_back(&relation);
  return all;
}

/// Returns an experiment in which one variant run must have the same outputs as the run `base`.
template <class Op>
Experiment<Op> unchanged(Trial<Op> base, Trial<Op> variant) {
  return {.base = std::move(base),
          .variants = {std::move(variant)},
          .combine = [](const std::vector<OutputValues>& outputs) { return outputs[0]; }};
}

/// Returns an experiment that changes the strides of inputs and outputs. The outputs must not
/// change.
template <class Op>
Experiment<Op> strided(const Trial<Op>& base, const spec::Strides& inputs,
                       const spec::Strides& outputs) {
  Experiment<Op> experiment = unchanged(base, base);
  experiment.variants[0].inputs = inputs;
  experiment.variants[0].outputs = outputs;
  return experiment;
}

/// Returns an experiment in which the outputs of the run `base` must equal `expected`.
template <class Op>
Experiment<Op> known(Trial<Op> base, OutputValues expected) {
  return {.base = std::move(base),
          .variants = {},
          .combine = [expected = std::move(expected)](const std::vector<OutputValues>&) {
            return expected;
          }};
}

template <class Op>
using RowsMember = decltype(Operand<Op>::rows);

/// Returns an experiment that sets the rows of one input to 0. All outputs must then be 0.
template <class Op>
Experiment<Op> zeroed(Trial<Op> base, RowsMember<Op> rows) {
  base.rows.*rows = times(std::move(base.rows.*rows), 0);
  OutputValues zeros = zero_outputs<Op>(base.problem);
  return known(std::move(base), std::move(zeros));
}

/// Returns the names of all outputs.
template <class Op>
std::vector<std::string_view> output_names() {
  std::vector<std::string_view> names;
  for (const ComparedOutput<Op>& output : RelationParts<Op>::outputs())
    names.push_back(output.name);
  return names;
}

/// Returns an experiment that multiplies the rows of one input by a power of two. The outputs
/// listed in `of` must be multiplied by the same power; the other outputs must not change.
template <class Op>
Experiment<Op> scaled(const Trial<Op>& base, RowsMember<Op> rows,
                      std::vector<std::string_view> of = output_names<Op>()) {
  constexpr double factor = 0x1p9;
  Experiment<Op> experiment = unchanged(base, base);
  experiment.variants[0].rows.*rows = times(base.rows.*rows, factor);
  experiment.combine = [of = std::move(of)](const std::vector<OutputValues>& outputs) {
    OutputValues g = outputs[0];
    for (const std::string_view name : of)
      if (const auto one = g.find(name); one != g.end())
        one->second = times(std::move(one->second), 1 / factor);
    return g;
  };
  return experiment;
}

/// Returns an experiment that splits the rows of one input into two summands. One summand of each
/// element is zero, so that nothing is rounded. The sum of the outputs listed in `of` over both
/// runs must equal the original outputs; the other outputs must not change.
template <class Op>
Experiment<Op> cut_in_two(const Trial<Op>& base, RowsMember<Op> rows,
                          std::vector<std::string_view> of = output_names<Op>()) {
  Trial<Op> first = base, second = base;
  for (std::size_t k = 0; k < (base.rows.*rows).size(); ++k)
    ((k * 5 % 7 < 3 ? first : second).rows.*rows)[k] = 0;
  return {.base = base,
          .variants = {std::move(first), std::move(second)},
          .combine = [of = std::move(of)](const std::vector<OutputValues>& outputs) {
            OutputValues added = outputs[1];
            std::erase_if(added, [&](const auto& one) {
              return std::ranges::find(of, one.first) == of.end();
            });
            return plus(outputs[0], added);
          }};
}

/// A part of a problem that is run on its own: a smaller problem and, for each of its rows, the row
/// of the whole problem from which it is copied.
template <class Op>
struct Piece {
  typename Op::Problem problem;
  typename RelationParts<Op>::Origins origins;
};

/// Returns a function that combines the outputs of the pieces to the outputs of `whole`. If several
/// pieces contain a row, the outputs for this row are added.
template <class Op>
Combination adding(const typename Op::Problem& whole, std::vector<Piece<Op>> pieces) {
  return [whole, pieces = std::move(pieces)](const std::vector<OutputValues>& outputs) {
    OutputValues all = zero_outputs<Op>(whole);
    visit_outputs<Op>(whole, [&](const ComparedOutput<Op>& output, const spec::Extents& to) {
      double* sums = all.find(output.name)->second.data();
      for (std::size_t k = 0; k < pieces.size(); ++k) {
        const spec::Extents from = output.extents(pieces[k].problem);
        const double* row_values = outputs[k].find(output.name)->second.data();
        for (std::int64_t row = 0; row < from.rows(); ++row, row_values += to.dim) {
          const auto place = (pieces[k].origins.*output.origin)(from.position(row));
          if (!place) continue;
          double* sum = sums + to.row(place->b, place->n, place->s) * to.dim;
          for (std::int64_t d = 0; d < to.dim; ++d) sum[d] += row_values[d];
        }
      }
    });
    return all;
  };
}

/// Returns an experiment in which the outputs of the run `base` must equal the combined outputs of
/// its pieces.
template <class Op>
Experiment<Op> rearranging(const Trial<Op>& base, std::vector<Piece<Op>> pieces) {
  Experiment<Op> experiment{.base = base, .variants = {}, .combine = {}};
  for (const Piece<Op>& piece : pieces)
    experiment.variants.push_back(
        RelationParts<Op>::rearranged(base, piece.problem, piece.origins));
  experiment.combine = adding<Op>(base.problem, std::move(pieces));
  return experiment;
}

}  // namespace assay::conformance
