#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "attention/formula/pair.hpp"

namespace assay::engine::attention {

using conformance::attention::Call;
using conformance::attention::Pair;
using conformance::attention::Row;
using conformance::attention::symbols;

/// The operands of one head, stored row by row. `kappa` (dropout factor) and `times` (0 for a
/// masked key) have an entry for each query i and key j, at index i * keys + j.
struct Head {
  std::int64_t queries = 0, keys = 0, dim = 0, dim_v = 0;
  std::vector<double> query, key, value, dy, attention_in;
  std::vector<double> max, sum;
  std::vector<double> kappa;                   ///< the dropout factor of a pair
  std::vector<double> times;                   ///< 0: the query does not attend to the key
  std::array<std::vector<double>, 3> weights;  ///< weights of keys for dq, of queries for dk and dv
  Call call;
};

}  // namespace assay::engine::attention
