#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

/// The lengths of sequences, as a problem stores them. If all lengths are equal, the list is empty
/// and only the member `longest` is set.
namespace assay::conformance {

/// Sets `longest` to the largest length. If all lengths are equal, clears the list.
inline void settle_longest(std::vector<std::int64_t>& lengths, std::int64_t& longest) {
  longest = std::ranges::max(lengths);
  if (std::ranges::min(lengths) == longest) lengths.clear();
}

/// Sets the batch size and the lengths of queries and keys. Both lists must have the same size.
template <class Problem>
void set_lengths(Problem& p, std::vector<std::int64_t> lengths_q,
                 std::vector<std::int64_t> lengths_kv) {
  p.batch = std::ssize(lengths_q);
  p.lengths_q = std::move(lengths_q);
  p.lengths_kv = std::move(lengths_kv);
  settle_longest(p.lengths_q, p.seq_q);
  settle_longest(p.lengths_kv, p.seq_kv);
}

/// Returns the length of every sequence. Example: all_lengths(p, &Problem::length_q).
template <class Problem>
std::vector<std::int64_t> all_lengths(const Problem& p,
                                      std::int64_t (Problem::*length)(std::int64_t) const) {
  std::vector<std::int64_t> lengths;
  for (std::int64_t b = 0; b < p.batch; ++b) lengths.push_back((p.*length)(b));
  return lengths;
}

}  // namespace assay::conformance
