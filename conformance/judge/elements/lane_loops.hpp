#pragma once

#include "assay/engine/blocks/pairs.hpp"
#include "judge/elements/row_loops.hpp"

/// The loops of row_loops.hpp, compiled once for each instruction set.
namespace assay::conformance {

template <engine::Instructions instructions>
bool all_within(engine::CompiledFor<instructions>, const RowNumbers& row, double share,
                double* ratios);
template <engine::Instructions instructions>
void fill_moments(engine::CompiledFor<instructions>, const RowNumbers& row,
                  const Arithmetic& arithmetic, const MomentRow& to);
template <engine::Instructions instructions>
bool all_certain(engine::CompiledFor<instructions>, const RowNumbers& row, double share,
                 const NearestSteps& steps);
template <engine::Instructions instructions>
double largest_radius(engine::CompiledFor<instructions>, const RowNumbers& row);

}  // namespace assay::conformance
