#include "assay/conformance/sweep/shrink.hpp"

#include <algorithm>
#include <iterator>

#include "case/reduction.hpp"

namespace assay::conformance {

std::vector<std::int64_t> values_below(std::int64_t value, std::int64_t least) {
  std::vector<std::int64_t> values;
  std::int64_t largest = least;
  for (std::int64_t v = least; v < value; v = std::max(2 * v, v + 1)) values.push_back(largest = v);
  for (std::int64_t rest = (value - largest) / 2; rest > 0; rest /= 2)
    values.push_back(value - rest);
  return values;
}

std::vector<std::int64_t> SequenceChoice::of(const std::vector<std::int64_t>& values) const {
  std::vector<std::int64_t> some;
  for (std::int64_t b = 0; b < std::ssize(values); ++b)
    if ((b >= first && b < first + count) == inside)
      some.push_back(values[static_cast<std::size_t>(b)]);
  return some;
}

std::vector<SequenceChoice> fewer_sequences(std::int64_t batch) {
  std::vector<SequenceChoice> choices;
  if (batch < 2) return choices;
  const std::int64_t singles = std::min(batch, most_single_sequences), half = batch / 2;
  for (std::int64_t b = 0; b < singles; ++b) choices.push_back({b, 1, true});
  choices.push_back({batch - 1, 1, true});
  choices.push_back({0, half, true});
  choices.push_back({half, batch - half, true});
  for (std::int64_t b = 0; b < singles; ++b) choices.push_back({b, 1, false});
  return choices;
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
