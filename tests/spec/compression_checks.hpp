#pragma once

#include <rapidcheck/gtest.h>

#include <algorithm>
#include <ostream>
#include <string_view>
#include <vector>

#include "operators/compression/table.hpp"
#include "table_checks.hpp"

/// Makes calls of NsaCompress and of its gradient, and tests their requirements.
namespace assay::spec {

template <class Op>
struct CompressionAsked {
  CompressionProblem problem;
  Product product = Product::a2;
  Striding inputs = Striding::contiguous, outputs = Striding::contiguous;

  Call<Op> call() const {
    return call_of(problem, typename Op::EntryPoint(), product, inputs, outputs);
  }
};

template <class Op>
void showValue(const CompressionAsked<Op>& asked, std::ostream& out) {
  out << to_string(asked.inputs) << ' ' << to_string(asked.outputs);
  show_fields(asked.problem, out);
}

inline Striding any_striding() {
  return spellings_of<Striding>.entries[static_cast<std::size_t>(integer(0, 2))].first;
}

/// Makes a random legal call. The stride is smaller than the window by at least `smallest_overlap`.
template <class Op>
CompressionAsked<Op> legal_compression(std::int64_t smallest_overlap) {
  CompressionProblem p;
  p.dtype = *rc::gen::element(DType::fp16, DType::bf16);
  p.batch = integer(1, 5);
  p.heads = integer(1, 8);
  p.head_dim = 16 * integer(1, 4);
  p.compress_block_size = 16 * integer(2, 8);
  p.compress_stride = 16 * integer(1, (p.compress_block_size - smallest_overlap) / 16);
  for (std::int64_t b = 0; b < p.batch; ++b)
    p.lengths.push_back(integer(0, 2) == 0 ? 0 : integer(0, 3 * p.compress_block_size));
  p.lengths[static_cast<std::size_t>(integer(0, p.batch - 1))] += p.compress_block_size;
  p.seq = std::ranges::max(p.lengths);
  if (std::ranges::min(p.lengths) == p.seq) p.lengths.clear();
  return {p, *rc::gen::element(Product::a2, Product::a3), any_striding(), any_striding()};
}

inline CompressionProblem ragged_compression() {
  return {.batch = 4, .heads = 3, .seq = 100, .lengths = {0, 31, 100, 48}};
}

/// Asserts three properties of a random legal call. The call and its variants violate no
/// requirement. Each test violation violates only its own requirement, and the requirements that
/// this one implies. The problem can be recovered from the call.
template <class Op>
void assert_a_legal_call(const CompressionAsked<Op>& asked) {
  const Call<Op> call = asked.call();
  assert_legal_in_itself_and_in_variants(call);
  RC_ASSERT(nsa::problem_of(call) == asked.problem);
}

}  // namespace assay::spec
