#include "attention/intermediates.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "assay/parallel/loop.hpp"

namespace assay::conformance {
namespace {

Intermediate empty(std::string name, spec::Shape shape) {
  const auto elements = static_cast<std::size_t>(spec::element_count(shape));
  return {std::move(name), std::move(shape), std::vector<double>(elements, std::nan(""))};
}

struct Arrays {
  Intermediate score, prob, dropped, dprob, dscore, row_term;
};

void fill_row(const PairSource& source, std::int64_t row, Arrays& arrays) {
  const auto [b, n, i] = source.queries.position(row);
  const std::int64_t place = (b * source.queries.heads + n) * source.queries.seq + i;
  if (source.row_term)
    arrays.row_term.values[static_cast<std::size_t>(place)] = source.row_term(b, n, i);
  for (std::int64_t j = 0; j < source.keys.length(b); ++j) {
    const auto k = static_cast<std::size_t>(place * source.keys.seq + j);
    const bool kept = source.keeps(b, n, i, j);
    const PairNumbers pair = kept ? source.pair(b, n, i, j) : PairNumbers{};
    arrays.prob.values[k] = pair.prob;
    arrays.dropped.values[k] = pair.dropped;
    arrays.dscore.values[k] = pair.dscore;
    if (!kept) continue;
    arrays.score.values[k] = pair.score;
    arrays.dprob.values[k] = pair.dprob;
  }
}

}  // namespace

Intermediates intermediates_of(const PairSource& source) {
  const spec::Shape rows = {source.queries.batch, source.queries.heads, source.queries.seq};
  spec::Shape pairs = rows;
  pairs.push_back(source.keys.seq);
  if (const std::int64_t count = spec::element_count(pairs); count > most_pairs)
    return {.arrays = {},
            .left_out = fmt::format("the case has {} pairs of query and key; "
                                    "at most {} can be computed one by one",
                                    count, most_pairs)};
  Arrays arrays = {.score = empty("S", pairs),
                   .prob = empty("P", pairs),
                   .dropped = empty("P_dropped", pairs),
                   .dprob = empty("dP", pairs),
                   .dscore = empty("dS", pairs),
                   .row_term = empty("row_term", rows)};
  parallel::for_each(source.queries.rows(),
                     [&](std::int64_t row) { fill_row(source, row, arrays); });
  Intermediates all;
  all.arrays = {std::move(arrays.score), std::move(arrays.prob)};
  if (source.has_dropout) all.arrays.push_back(std::move(arrays.dropped));
  if (!source.row_term) return all;
  all.arrays.push_back(std::move(arrays.dprob));
  all.arrays.push_back(std::move(arrays.row_term));
  all.arrays.push_back(std::move(arrays.dscore));
  return all;
}

}  // namespace assay::conformance
