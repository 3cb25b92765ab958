#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "../../each_operator.hpp"
#include "assay/conformance/bases.hpp"
#include "assay/conformance/inputs/inputs.hpp"
#include "assay/conformance/operators.hpp"
#include "assay/conformance/plan/sampling.hpp"
#include "assay/parallel/loop.hpp"
#include "assay/spec/numerics.hpp"
#include "judge/definition.hpp"

namespace assay::conformance {
namespace {

/// Counts reference values in double that lie within their proven error radii, and those that do
/// not ("misses").
struct Found {
  std::int64_t cases = 0, elements = 0, without_radius = 0;
  /// `misses_of_injected` counts errors larger than 2^-16 times the error radius. The count shows
  /// that the check can fail.
  std::int64_t misses = 0, misses_of_injected = 0;
  double largest_share = 0;  ///< the largest quotient of error and radius
  /// The same counts for elements computed in double-double. `quick_misses_of_injected` counts
  /// errors larger than 2^-20 times the error radius.
  std::int64_t quick_elements = 0, quick_misses = 0, quick_misses_of_injected = 0;
  std::string first_miss;
};

/// Compares a row with an evaluation of the formulas in 75 digits. An error larger than the proven
/// error radius is a miss.
void compare(const Expectation& e, std::int64_t number, const DefinedRow& row, Found& found) {
  const auto first = (std::ranges::lower_bound(e.rows, number) - e.rows.begin()) * e.dim();
  for (std::int64_t d = 0; d < e.dim(); ++d) {
    const auto k = static_cast<std::size_t>(first + d), c = static_cast<std::size_t>(d);
    const double error = std::abs((row.value[c] - e.value[k]) + row.rest[c]), radius = e.radius[k];
    ++found.elements;
    if (!std::isfinite(radius)) {
      ++found.without_radius;
      continue;
    }
    // The factor 2^-16 makes the radius much too small on purpose. It must be this small because in
    // sums of 512 channels the rounding errors of double are mostly far below their bound.
    if (error > 0x1p-16 * radius) ++found.misses_of_injected;
    if (radius > 0) found.largest_share = std::max(found.largest_share, error / radius);
    if (error <= radius) continue;
    if (found.misses++ == 0)
      found.first_miss = e.name + " row " + std::to_string(number) + " channel " +
                         std::to_string(d) + ": error " + std::to_string(error / radius) +
                         " times the radius";
  }
}

/// Compares a row in double-double with the same row in 75 digits. An error larger than the proven
/// error radius is a miss.
void compare_quick(const Expectation& e, std::int64_t number, const DefinedRow& quick,
                   const DefinedRow& row, Found& found) {
  const auto first = (std::ranges::lower_bound(e.rows, number) - e.rows.begin()) * e.dim();
  for (std::int64_t d = 0; d < e.dim(); ++d) {
    const auto k = static_cast<std::size_t>(first + d), c = static_cast<std::size_t>(d);
    const double error = std::abs((quick.value[c] - row.value[c]) + (quick.rest[c] - row.rest[c]));
    const double radius = quick.share * e.radius[k] + quick.additive;
    if (!std::isfinite(radius)) continue;
    ++found.quick_elements;
    if (error > 0x1p-20 * radius) ++found.quick_misses_of_injected;
    if (error <= radius) continue;
    if (found.quick_misses++ == 0)
      found.first_miss = e.name + " row " + std::to_string(number) + " channel " +
                         std::to_string(d) + " in double-double: error " +
                         std::to_string(error / radius) + " times the radius";
  }
}

/// Returns up to 12 evenly spaced rows of `rows`.
std::vector<std::int64_t> some_of(const std::vector<std::int64_t>& rows) {
  constexpr std::int64_t most = 12;
  std::vector<std::int64_t> some;
  const std::int64_t count = std::min<std::int64_t>(most, std::ssize(rows));
  for (std::int64_t k = 0; k < count; ++k)
    some.push_back(rows[static_cast<std::size_t>(k * std::ssize(rows) / count)]);
  return some;
}

/// Checks some rows of a case for a named declaration of arithmetic (`preset`). The declared kernel
/// must use the delta that follows from the inputs dy and attention_in.
template <class Op>
void look_at(const Case<Op>& c, const std::string& preset, Found& found) {
  const auto inputs = make_inputs(c);
  const Arithmetic arithmetic(spec::numerics_preset(preset, c.problem.dtype), c.problem.dtype);
  typename Suite<Op>::Basis basis(c, inputs, arithmetic);
  const auto definition = basis.definition();
  std::vector<Expectation> whole;
  for (const Expectation& e : basis.expectations()) whole.push_back(e.part ? e.part(e.rows) : e);
  std::set<std::string> seen;
  std::mutex mutex;
  const std::int64_t missed = found.misses + found.quick_misses;
  for (const Expectation& lead : whole) {
    if (seen.contains(lead.name)) continue;
    const std::vector<std::int64_t> chosen = some_of(lead.rows);
    parallel::for_each(std::ssize(chosen), [&](std::int64_t k) {
      const std::int64_t number = chosen[static_cast<std::size_t>(k)];
      const DefinedRows rows = definition->row(lead.name, number),
                        quick_rows = definition->quick_row(lead.name, number);
      const std::scoped_lock lock(mutex);
      for (const auto& [name, row] : rows) {
        const auto e = std::ranges::find(whole, name, &Expectation::name);
        if (e == whole.end()) continue;
        seen.insert(name);
        compare(*e, number, row, found);
        for (const auto& [quick_name, quick] : quick_rows)
          if (quick_name == name) compare_quick(*e, number, quick, row, found);
      }
    });
  }
  if (missed == 0 && found.misses + found.quick_misses > 0)
    found.first_miss += " of " + command_line(c) + ", " + preset;
  ++found.cases;
}

/// Checks cases of a sweep, including cases with extreme inputs, until enough elements are
/// compared.
template <class Op>
Found look(std::int64_t elements, std::int64_t largest) {
  constexpr const char* presets[] = {"ascend_a2", "fp32_staging"};
  Found found;
  for (std::uint64_t seed = 1; found.elements < elements; ++seed) {
    const std::int64_t before = found.elements;
    std::vector<Case<Op>> cases = sample<Op>({.seed = seed, .random_cases = 200});
    std::ranges::shuffle(cases, std::mt19937_64(seed));
    for (const Case<Op>& c : cases) {
      if (c.track != Track::bound || !c.violate.empty() ||
          Suite<Op>::multiply_adds(c.problem) > static_cast<double>(largest))
        continue;
      look_at(c, presets[found.cases % 2], found);
      if (found.elements >= elements) break;
    }
    if (found.elements == before) break;
  }
  std::cout << Op::name << ": " << found.cases << " cases, " << found.elements << " elements, "
            << found.without_radius << " without a radius, " << found.misses
            << " outside theirs, the largest error " << found.largest_share << " of its radius; "
            << found.quick_elements << " in double-double, " << found.quick_misses
            << " outside their radius, " << found.quick_misses_of_injected
            << " outside a radius that was narrowed on purpose\n";
  return found;
}

template <class Op>
class Enclosure : public ::testing::Test {};
TYPED_TEST_SUITE(Enclosure, tests::EveryOperator, tests::ByOperator);

TYPED_TEST(Enclosure, NoReferenceMissesItsDefinition) {
  constexpr std::int64_t elements = ASSAY_ELEMENTS;
  const Found found = look<TypeParam>(elements, ASSAY_MULTIPLY_ADDS);
  EXPECT_GE(found.elements, elements);
  EXPECT_EQ(found.misses, 0) << found.first_miss;
  EXPECT_EQ(found.quick_misses, 0) << found.first_miss;
  EXPECT_LT(found.without_radius, found.elements / 100);
  // Shows that the check can fail: with much too narrow error radii it must find errors. Operators
  // without a softmax are excluded: they only add products of 16-bit numbers, which double
  // represents exactly.
  if (TypeParam::has_softmax) {
    EXPECT_GT(found.misses_of_injected, 0);
    EXPECT_GT(found.quick_elements, found.elements / 2);
    EXPECT_GT(found.quick_misses_of_injected, 0);
  }
}

}  // namespace
}  // namespace assay::conformance
