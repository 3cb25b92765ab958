#include "operands/numerics.hpp"

namespace assay::optimized {

spec::Numerics numerics_of_tiles(spec::DType io) {
  spec::Numerics numerics = spec::numerics_preset("ascend_a2", io);
  numerics.order = spec::Order::fixed;
  numerics.overflow = spec::Overflow::inf;
  // Measured 2^-23.6 over every float whose exponential is normal. Smaller ones underflow
  // gradually, as dS does, which the floor of the preset covers; masked elements are exactly
  // zero.
  numerics.exp_error = 0x1p-23;
  return numerics;
}

}  // namespace assay::optimized
