#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/spec/numerics.hpp"
#include "judge/relations/comparison.hpp"
#include "operators/nsa_compress_grad/relations/trial.hpp"

/// Relations between the outputs of several runs of one kernel that every correct kernel fulfils:
/// no reference value takes part.
namespace assay::conformance::compress {

/// The outputs of `base` are predicted from those of the variants; an output without elements is
/// not. `combine` adds and moves elements, times numbers that are not negative: it combines
/// tolerances as well as values.
struct Experiment {
  Trial base;
  std::vector<Trial> variants;
  std::function<Gradients(const std::vector<Gradients>&)> combine;
  Gradients known = {};        ///< without variants: what the outputs of `base` must be
  bool is_contracted = false;  ///< the sums over a head of input_grad * input and of weight_grad *
                               ///< weight are compared
};

/// The experiment that one variant has the very gradients of `base`.
inline Experiment unchanged(Trial base, Trial variant) {
  return {.base = std::move(base),
          .variants = {std::move(variant)},
          .combine = [](const std::vector<Gradients>& outputs) { return outputs[0]; }};
}

struct Relation {
  std::string_view name, sentence;
  Agreement agreement;
  /// Whether it holds for the problem, and how the domain reads.
  bool (*applies)(const Op::Problem&);
  std::string_view domain;
  /// Problems of its domain, small enough to judge every row.
  std::vector<Op::Problem> (*problems)();
  Experiment (*prepare)(const Trial& base);
};

/// Of factors and sums of the numbers.
std::span<const Relation> arithmetic_relations();
/// Of what may change places, be left out, or be run alone.
std::span<const Relation> rearranging_relations();

/// All of them. Errors of `relation`: std::invalid_argument naming those there are.
std::vector<const Relation*> relations();
const Relation& relation(std::string_view name);

/// Problems that relations are tried on: overlaps of two and of three windows, tails, sequences
/// without windows.
Op::Problem even_problem(spec::DType dtype);
Op::Problem ragged_problem(spec::DType dtype);
std::vector<Op::Problem> of_every_kind();

/// How far two runs may lie from each other, element by element. tau: with high probability;
/// tau_det: without doubt.
struct Tolerances {
  Gradients tau, tau_det;
};

/// The tolerance of the base and of what the variants predict, added.
Tolerances tolerances(const Experiment& experiment, const spec::NumericsProfile& profile);

}  // namespace assay::conformance::compress
