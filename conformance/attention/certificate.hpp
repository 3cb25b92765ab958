#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "assay/reference/real.hpp"
#include "attention/bound/bound.hpp"
#include "judge/basis.hpp"

namespace assay::conformance::flash {

/// Rows of gradients by the names of their tensors, in double.
using NamedRows = std::vector<std::pair<const char*, std::vector<double>>>;

/// Where the rows come from: what the definition of an operator says of a query row, and of a key.
struct Definition {
  std::function<NamedRows(const spec::RowPosition&)> query, key;
  std::int64_t products = 0;         ///< multiplications of all rows, roughly
  std::int64_t most_sequences = 16;  ///< of which rows are certified where that is too many
};

std::vector<double> narrowed(const std::vector<reference::Quad>& row);

/// All rows of a small case in 113 bits, else a query row and a key of the first head of every
/// batch entry, of 16 entries at most. They agree with the double engine within its proven radius.
/// Errors: std::logic_error naming the element if the double engine is off by more than its radius.
Certificate certify(const Dense& dense, const JudgedRows& judged, const Definition& definition);
/// By the definition of FlashAttentionScoreGrad.
Certificate certify(const Dense& dense, const Op::Inputs& inputs, const JudgedRows& judged);

}  // namespace assay::conformance::flash
