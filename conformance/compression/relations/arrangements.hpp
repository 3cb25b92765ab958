#pragma once

#include <vector>

#include "compression/problem.hpp"
#include "judge/relations/trial.hpp"

/// Functions that make problems by reordering the rows of another problem. Every sum has the same
/// terms as before.
namespace assay::conformance::compression {

/// For each row of the new problem: the position of the old row from which it is copied.
struct Origins {
  Origin token, window, weight;
};

/// A problem, and for each of its rows the row of the original problem from which it is copied.
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

/// Makes one problem for each sequence that has windows. The gradients of all other sequences are
/// zero.
Arrangements each_sequence(const Problem& problem);
/// Each of these four functions makes one problem. In this order: the sequences are reversed; only
/// the sequences with windows remain; an empty sequence is added at the start; two empty sequences
/// are added after every sequence.
Arrangements reversed_sequences(const Problem& problem);
Arrangements without_short_sequences(const Problem& problem);
Arrangements with_empty_first(const Problem& problem);
Arrangements with_empty_between(const Problem& problem);

/// each_head makes one problem for each head. rotated_heads makes one problem with the heads in
/// another order.
Arrangements each_head(const Problem& problem);
Arrangements rotated_heads(const Problem& problem);

/// Makes two problems. Both add as many tokens as possible at the end without creating a window.
/// The first problem adds copies of the last token, the second adds zeros.
Arrangements with_longer_tails(const Problem& problem);

/// Inserts one stride of tokens before every sequence that has windows. The new tokens, and the
/// rows of the new window, are zero.
Arrangements shifted_by_stride(const Problem& problem);

}  // namespace assay::conformance::compression
