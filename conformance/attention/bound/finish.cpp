#include "attention/bound/finish.hpp"

#include <algorithm>

/// This file is compiled once for each instruction set (ASSAY_INSTRUCTIONS).
namespace assay::conformance::attention {

template <>
void finish_row(engine::CompiledFor<engine::Instructions::ASSAY_INSTRUCTIONS>, const SummedRow& row,
                const RowEntries& to) {
  constexpr std::int64_t lanes = engine::lanes_of<engine::Lanes>;
  for (std::int64_t k = 0; k < row.count; k += lanes) {
    const std::int64_t count = std::min(lanes, row.count - k);
    engine::Lanes floor{};
    __builtin_memcpy(&floor, row.floor + k, static_cast<std::size_t>(count) * sizeof(double));
    const auto elements = row.elements->lanes_from(static_cast<std::size_t>(row.first + k));
    put(to, k, engine::bound_of(elements, row.output, floor), count);
  }
}

}  // namespace assay::conformance::attention
