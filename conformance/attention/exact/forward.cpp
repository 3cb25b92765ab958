#include "attention/exact/forward.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#include "assay/spec/at.hpp"

namespace assay::conformance::exact {
namespace {

using spec::at;

/// The weight exp(-104) is less than half the smallest fp32 number, so it becomes 0.
constexpr double too_far = 104;
constexpr std::int64_t most_entries = 8;

struct Weighed {
  double max = 0;
  std::vector<std::pair<std::int64_t, std::int64_t>> keys;  ///< key and number of times
  std::int64_t count = 0;
};

/// Returns the keys that share the largest score of the row. Returns no keys if the output of the
/// row cannot be exact.
Weighed weigh(const attention::Dense& dense, const spec::RowPosition& row) {
  const std::int64_t kv = row.n / dense.problem.group();
  const attention::FloatRow query = dense.query(row.b, row.n, row.s);
  std::vector<std::pair<double, std::int64_t>> scores;
  for (const std::int64_t j : dense.key_pattern->keys(row)) {
    if (dense.key_pattern->times(row.b, row.n, row.s, j) == 0) continue;
    const attention::FloatRow key = dense.key(row.b, kv, j);
    double product = 0;
    for (std::int64_t d = 0; d < dense.width(); ++d) product += query[d] * key[d];
    scores.emplace_back(dense.scale * product + dense.bias(row.b, row.n, row.s, j), j);
  }
  Weighed weighed;
  if (scores.empty()) return weighed;
  weighed.max = std::ranges::max(scores).first;
  for (const auto& [score, j] : scores) {
    if (score < weighed.max - too_far) continue;
    const std::int64_t times = dense.key_pattern->times(row.b, row.n, row.s, j);
    weighed.keys.emplace_back(j, times);
    weighed.count += times;
    if (score != weighed.max) return {};
  }
  if (weighed.count > most_entries ||
      !std::has_single_bit(static_cast<std::uint64_t>(weighed.count)))
    return {};
  return weighed;
}

}  // namespace

ForwardAnswer forward_answer(const attention::Dense& dense, const std::vector<std::int64_t>& rows) {
  ForwardAnswer answer;
  for (const std::int64_t number : rows) {
    const spec::RowPosition row = dense.queries.position(number);
    const Weighed weighed = weigh(dense, row);
    if (weighed.count == 0) continue;
    answer.rows.push_back(number);
    answer.softmax_max.push_back(dyadic_of(weighed.max));
    answer.softmax_sum.push_back({weighed.count, 0});
    std::vector<double> sums(static_cast<std::size_t>(dense.problem.head_dim_v));
    for (const auto& [j, times] : weighed.keys) {
      const auto weight = static_cast<double>(times) * dense.kappa(row.b, row.n, row.s, j);
      const attention::FloatRow value = dense.value(row.b, row.n / dense.problem.group(), j);
      for (std::size_t d = 0; d < sums.size(); ++d) sums[d] += weight * value[d];
    }
    for (const double sum : sums)
      answer.attention_out.push_back(dyadic_of(sum / static_cast<double>(weighed.count)));
  }
  if (answer.rows.empty())
    throw NoExactCase("none of the " + std::to_string(rows.size()) +
                      " judged rows attends to exactly 1, 2, 4 or 8 keys");
  return answer;
}

std::vector<ExactTensor> exact_tensors(const ForwardAnswer& answer, std::int64_t head_dim_v) {
  return {{"softmax_max", answer.softmax_max, answer.rows, 1},
          {"softmax_sum", answer.softmax_sum, answer.rows, 1},
          {"attention_out", answer.attention_out, answer.rows, head_dim_v}};
}

}  // namespace assay::conformance::exact
