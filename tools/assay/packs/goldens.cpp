#include "packs/goldens.hpp"

#include <algorithm>

#include "assay/conformance/inputs/random.hpp"

namespace assay::cli {

std::vector<fixtures::GoldenElement> goldens_of(const conformance::Expected& expected,
                                                const spec::Tensor& rounded,
                                                const std::vector<std::int64_t>& places,
                                                std::uint64_t seed, bool whole) {
  const auto judged = static_cast<std::int64_t>(places.size());
  const std::int64_t count = whole ? judged : std::min(judged, sampled_elements);
  const auto random = conformance::stream(seed, conformance::stream_named(expected.name));
  std::vector<fixtures::GoldenElement> goldens;
  for (std::int64_t k = 0; k < count; ++k) {
    const std::int64_t first = k * judged / count, last = (k + 1) * judged / count - 1;
    const std::int64_t e = random.integer(static_cast<std::uint64_t>(k), first, last);
    const auto at = static_cast<std::size_t>(e);
    goldens.push_back({.place = places[at],
                       .value = expected.value[at],
                       .radius = expected.radius[at],
                       .tau = expected.tau[at],
                       .rounded = static_cast<float>(rounded.load(e))});
  }
  std::ranges::sort(goldens, {}, &fixtures::GoldenElement::place);
  return goldens;
}

}  // namespace assay::cli
