#include "operands/numerics.hpp"

namespace assay::optimized {

spec::Numerics numerics_of_tiles(spec::DType io) {
  spec::Numerics numerics = spec::numerics_preset("ascend_a2", io);
  numerics.order = spec::Order::fixed;
  numerics.overflow = spec::Overflow::inf;
  // The relative error of the exponential is at most 2^-23.6, measured over every float with a
  // normal exponential. Smaller exponentials underflow gradually, as dS does; the declared floor
  // (Numerics::floor, below which results count as 0) covers this. Masked elements are exactly
  // zero.
  numerics.exp_error = 0x1p-23;
  return numerics;
}

}  // namespace assay::optimized
