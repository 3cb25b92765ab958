#pragma once

#include <cstdint>

#include "assay/engine/algebra/element_row.hpp"
#include "assay/engine/blocks/pairs.hpp"
#include "judge/tolerance.hpp"

namespace assay::conformance::attention {

/// Elements [first, first + count) of a row that the engine has computed, and how the kernel writes
/// them.
struct SummedRow {
  const engine::ElementRow* elements = nullptr;
  std::int64_t first = 0, count = 0;
  engine::Output output;
  const double* floor = nullptr;  ///< Phi of each element
};

/// Applies equations E15 to E26 to a row, eight elements at a time.
template <engine::Instructions instructions>
void finish_row(engine::CompiledFor<instructions>, const SummedRow& row, const RowEntries& to);

}  // namespace assay::conformance::attention
