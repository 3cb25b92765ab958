#pragma once

#include <vector>

#include "compression/problem.hpp"
#include "judge/relations/trial.hpp"

/// Problems whose rows are rows of another problem, in another order. Every sum has the same terms
/// as before.
namespace assay::conformance::compression {

/// For each row: the position of the row from which it is copied.
struct Origins {
  Origin token, window, weight;
};

/// A problem, and for each of its rows the row of another problem from which it is copied.
struct Arrangement {
  Problem problem;
  Origins origins;
};
using Arrangements = std::vector<Arrangement>;

/// Conditions for problems.
bool has_sequences(const Problem& problem);
bool has_heads(const Problem& problem);
bool has_short_sequences(const Problem& problem);
bool has_spare_tail(const Problem& problem);
bool has_two_tiles(const Problem& problem);

/// Makes a problem of each sequence that has windows. The gradients of the other sequences are
/// zero.
Arrangements each_sequence(const Problem& problem);
/// Each function makes one problem: the sequences in reverse order; only the sequences with
/// windows; an empty sequence added at the start; two empty sequences added after every sequence.
Arrangements reversed_sequences(const Problem& problem);
Arrangements without_short_sequences(const Problem& problem);
Arrangements with_empty_first(const Problem& problem);
Arrangements with_empty_between(const Problem& problem);

/// Make a problem of each head; make one problem with the heads in another order.
Arrangements each_head(const Problem& problem);
Arrangements rotated_heads(const Problem& problem);

/// Makes two problems. In both, as many tokens as possible are added at the end without creating a
/// window: copies of the last token in the first problem, zeros in the second.
Arrangements with_longer_tails(const Problem& problem);

/// Inserts a stride of tokens before every sequence that has windows. The tokens and the rows of
/// the new window are zero.
Arrangements shifted_by_stride(const Problem& problem);

}  // namespace assay::conformance::compression
