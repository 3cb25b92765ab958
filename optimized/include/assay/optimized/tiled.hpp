#pragma once

#include <stdexcept>

namespace assay::optimized {

/// The implementation of Op, where there is one; its header has the specialisation:
///
///   /// Makes it for a device.
///   static std::unique_ptr<spec::Implementation<Op>> make(const device::Spec&, Options);
///   /// How a problem is cut, for people. Errors: NothingToCut, or device::DeviceFault where not
///   /// even the smallest tiles fit.
///   static std::string plan(const Op::Problem&, const device::Spec&);
///   /// The first turns of the queues in its fastest schedule, in the JSON that Perfetto opens.
///   /// Errors: NothingToCut, also where no schedule is modelled.
///   static std::string trace(const Op::Problem&, const device::Spec&);
template <class Op>
struct Tiled;

/// Whether we have an implementation of Op.
template <class Op>
concept IsTiled = requires {
  sizeof(Tiled<Op>);
};

/// A problem without a plan; it says why.
struct NothingToCut : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

}  // namespace assay::optimized
