#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "assay/conformance/attention/flash.hpp"
#include "assay/conformance/inputs/inputs.hpp"
#include "assay/conformance/inputs/random.hpp"

namespace assay::conformance::attention::flash {
namespace {

struct NamedSink {
  std::string_view name, sentence;
  double distance;  ///< from the maxima of the rows
};

constexpr NamedSink sinks[] = {
    {"near", "the sink of a head is near the maxima of its rows", 0},
    {"minus_10", "the sink is about 10 below the row maxima", -10},
    {"minus_200", "the sink is about 200 below the row maxima: its probability is 0 in fp32", -200},
    {"plus_10", "the sink is about 10 above the row maxima", 10},
    {"plus_100", "the sink is about 100 above the row maxima: the other probabilities are nearly 0",
     100},
    {"mixed", "the heads use these patterns in turn", 0}};

double distance_of(const std::string& pattern, std::int64_t n) {
  const auto* const found = std::ranges::find(sinks, pattern, &NamedSink::name);
  if (found == std::end(sinks))
    throw std::invalid_argument("unknown sink pattern '" + pattern + "'");
  if (pattern != "mixed") return found->distance;
  return sinks[static_cast<std::size_t>(n) % (std::size(sinks) - 1)].distance;
}

/// Returns the median of the row maxima of query head n, over rows with an unmasked key. Returns 0
/// if the head has no such row.
double median_of(const spec::Extents& rows, std::span<const double> maxima, std::int64_t n) {
  std::vector<double> of_head;
  for (std::int64_t b = 0; b < rows.batch; ++b)
    for (std::int64_t s = 0; s < rows.length(b); ++s) {
      const double maximum = maxima[static_cast<std::size_t>(rows.row(b, n, s))];
      if (maximum > -static_cast<double>(std::numeric_limits<float>::max()))
        of_head.push_back(maximum);
    }
  if (of_head.empty()) return 0;
  const auto middle = of_head.begin() + std::ssize(of_head) / 2;
  std::ranges::nth_element(of_head, middle);
  return *middle;
}

}  // namespace

std::span<const InputProfile> sink_patterns() {
  static const auto named = [] {
    std::vector<InputProfile> entries;
    for (const NamedSink& pattern : sinks) entries.push_back({pattern.name, pattern.sentence});
    return entries;
  }();
  return named;
}

spec::Tensor sink_of(const spec::Parameter& parameter, const spec::AttentionProblem& p,
                     const std::string& pattern, std::uint64_t seed,
                     std::span<const double> maxima) {
  spec::Tensor sink = guarded_tensor(parameter);
  const std::vector<std::int64_t> elements = spec::viewed_elements(sink);
  const Random random = stream(seed, stream_named("sink"));
  const spec::Extents rows = query_extents(p);
  for (std::int64_t n = 0; n < p.heads_q; ++n) {
    const auto head = static_cast<std::size_t>(n);
    const double noise = random.normal(head) / 2;
    const double logit = median_of(rows, maxima, n) + distance_of(pattern, n) + noise;
    sink.store(elements[head], static_cast<double>(static_cast<float>(logit)));
  }
  return sink;
}

}  // namespace assay::conformance::attention::flash
