#include "assay/engine/algebra/sum.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay::engine {
namespace {

/// The bounds themselves are computed in double; so much hides what that rounds.
constexpr double slack = 1 + 0x1p-40;

double known(double bound) {
  return std::isnan(bound) ? std::numeric_limits<double>::infinity() : bound;
}

/// A12.
double written(const Output& output, double reference, double core, double accumulation) {
  const double scaled = output.factor == 1 ? 0 : 2 * output.units.u * reference;
  const double before = core + accumulation + scaled + output.floor;
  return before + output.store.error(reference + before);
}

}  // namespace

/// A10.
double mean_free_factor(std::int64_t sums, double alpha) {
  const auto count = static_cast<double>(std::max<std::int64_t>(sums, 1));
  return std::sqrt(2 * std::log(2 * count / alpha));
}

Bound bound_of(const Element& element, const Output& output) {
  const double factor = std::abs(output.factor), u = output.units.u_sum;
  Bound bound;
  bound.value = output.factor * element.value;
  // A10. What is known of stores has one sign for all; the rest of them has none.
  bound.rigorous = slack * factor * element.rigorous;
  const double probable =
      slack * factor *
      (std::abs(element.drift) + output.lambda * std::sqrt(element.squares) + element.shared);
  bound.core = output.averages ? std::min(bound.rigorous, probable) : bound.rigorous;
  // A11.
  const double total = slack * factor * element.magnitude + bound.rigorous;
  const double narrowed = output.units.operands * total;
  const double worst = element.terms + 4;
  const double likely = output.averages && !output.units.truncating
                            ? std::min(worst, output.lambda * std::sqrt(element.terms) + 4)
                            : worst;
  const double reference = std::abs(bound.value);
  bound.proven = known(written(output, reference, bound.rigorous, worst * u * total + narrowed));
  bound.probable = known(written(output, reference, bound.core, likely * u * total + narrowed));
  return bound;
}

}  // namespace assay::engine
