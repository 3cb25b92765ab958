#pragma once

#include <stdexcept>

namespace assay::optimized {

/// The implementation of the operator Op. The header of the implementation specializes this
/// template with the following members:
///
///   /// Creates the implementation for a device.
///   static std::unique_ptr<spec::Implementation<Op>> make(const device::Spec&, Options);
///
/// and, if schedules of the operator for a device are modelled:
///
///   /// Formats the tiling of a problem and its fastest schedule for people. Errors:
///   /// NothingToCut, or device::DeviceFault if even the smallest tiles do not fit.
///   static std::string plan(const Op::Problem&, const device::Spec&);
///   /// Returns the first instructions of the fastest schedule, in Perfetto's JSON format.
///   /// Errors: NothingToCut, also if the model covers no schedule of the problem.
///   static std::string trace(const Op::Problem&, const device::Spec&);
template <class Op>
struct Tiled;

/// True if this library implements the operator Op.
template <class Op>
concept IsTiled = requires {
  sizeof(Tiled<Op>);
};

/// True if this library also models how a problem of the operator is tiled for a device.
template <class Op>
concept IsPlanned = requires {
  Tiled<Op>::plan;
};

/// Thrown if a problem has no tiling. The message gives the reason.
struct NothingToCut : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

}  // namespace assay::optimized
