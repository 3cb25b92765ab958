#include "assay/optimized/schedules/attention.hpp"

#include <algorithm>

namespace assay::optimized::schedules {
namespace {

using device::ceil_divide;

constexpr std::int64_t edge = 128;

}  // namespace

std::int64_t Sequences::kept(std::int64_t rows, std::int64_t columns) const {
  std::int64_t all = 0;
  for (std::int64_t first = 0; first < seq_q; first += rows) {
    const std::int64_t last = std::min(first + rows, seq_q);
    const std::int64_t from = prefix > 0 ? 0 : std::max<std::int64_t>(first - before, 0);
    const std::int64_t to = std::min(std::max(last + after, prefix), seq_kv);
    if (from < to) all += ceil_divide(to, columns) - from / columns;
  }
  return all;
}

bool Sequences::masked() const {
  return before < seq_q - 1 || (after < seq_kv - 1 && prefix < seq_kv);
}

std::vector<Sequences> Attention::sequences() const {
  if (!listed.empty()) return listed;
  return {
      {.seq_q = seq_q, .seq_kv = seq_kv, .after = causal ? seq_kv - seq_q : Sequences::unbounded}};
}

std::int64_t Attention::kept(std::int64_t rows, std::int64_t columns) const {
  std::int64_t all = 0;
  for (const Sequences& s : sequences()) all += s.count * s.kept(rows * edge, columns * edge);
  return heads * all;
}

bool Attention::masked() const {
  const std::vector<Sequences> all = sequences();
  return std::any_of(all.begin(), all.end(), [](const Sequences& s) { return s.masked(); });
}

}  // namespace assay::optimized::schedules
