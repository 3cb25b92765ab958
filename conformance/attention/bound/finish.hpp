#pragma once

#include <cstdint>

#include "assay/conformance/judge/arithmetic.hpp"
#include "assay/engine/algebra/element_row.hpp"
#include "assay/engine/blocks/pairs.hpp"

namespace assay::conformance::flash {

/// Elements of a row as the engine hands them out, and what they are to become.
struct SummedRow {
  const engine::ElementRow* elements = nullptr;
  std::int64_t first = 0, count = 0;  ///< which of them
  double factor = 1;                  ///< of the gradient
  double terms = 0;                   ///< length of the last sum
  double heads = 0;                   ///< of the group whose parts are added
  double operand = 0;                 ///< u_k, where an operand was scaled beforehand
  double lost = 0;  ///< eta_k times the sum of |coefficient|: what such an operand lost
  const double* floor = nullptr;  ///< Phi of each element
};

/// Where the row's entries stand in an `Expectation`.
struct RowEntries {
  double *value, *radius, *tau, *tau_det, *sigma, *floor, *drift;
  float *core, *accumulation, *extra;
};

/// E15 to E26 of a row, eight elements at a time; `lambda` is that of its tensor.
template <engine::Instructions instructions>
void finish_row(engine::CompiledFor<instructions>, const Arithmetic& arithmetic, double lambda,
                const SummedRow& row, const RowEntries& to);

}  // namespace assay::conformance::flash
