#include "assay/conformance/shrink.hpp"

#include <algorithm>

#include "reduction.hpp"

namespace assay::conformance {

std::vector<std::int64_t> values_below(std::int64_t value, std::int64_t least) {
  std::vector<std::int64_t> values;
  std::int64_t largest = least;
  for (std::int64_t v = least; v < value; v = std::max(2 * v, v + 1))
    values.push_back(largest = v);
  for (std::int64_t rest = (value - largest) / 2; rest > 0; rest /= 2)
    values.push_back(value - rest);
  return values;
}

bool same_failure(Verdict first, Verdict other) {
  const auto is_beyond_any_bound = [](Verdict v) {
    return v == Verdict::nonconformant_structural || v == Verdict::nonconformant_proven;
  };
  const auto is_beyond_statistics = [](Verdict v) {
    return v == Verdict::nonconformant_statistical || v == Verdict::statistical_unconfirmed;
  };
  if (is_beyond_any_bound(first)) return is_beyond_any_bound(other);
  if (is_beyond_statistics(first)) return is_beyond_any_bound(other) || is_beyond_statistics(other);
  return first == other;
}

}  // namespace assay::conformance
