#pragma once

#include <cstdint>

#include "assay/engine/algebra/element_row.hpp"
#include "assay/engine/blocks/pairs.hpp"
#include "judge/tolerance.hpp"

namespace assay::conformance::attention {

/// Describes elements [first, first + count) of a row: their sums from the engine, and how the
/// kernel writes them.
struct SummedRow {
  const engine::ElementRow* elements = nullptr;
  std::int64_t first = 0, count = 0;
  engine::Output output;
  const double* floor = nullptr;  ///< Phi of each element
};

/// Computes reference and tolerances of a row from its sums (equations E15 to E26), in SIMD lanes.
template <engine::Instructions instructions>
void finish_row(engine::CompiledFor<instructions>, const SummedRow& row, const RowEntries& to);

}  // namespace assay::conformance::attention
