#pragma once

#include <memory>
#include <string>

#include "assay/device/ascend.hpp"
#include "assay/optimized/options.hpp"
#include "assay/optimized/tiled.hpp"
#include "assay/spec/implementation.hpp"
#include "assay/spec/operators/nsa_compress.hpp"

namespace assay::optimized {

/// Returns an implementation of NSA compression on the host. Each sum is one fp32 chain over the
/// tokens of a window, in ascending order, rounded once; ties are rounded away from zero, as in the
/// vendor's kernel. Products of two 16-bit numbers are exact, so results are bit-identical for
/// every thread count and instruction set.
///
/// Errors: std::invalid_argument if the machine does not have the selected instructions. `check`
/// throws spec::Rejected. `run` throws std::invalid_argument if the shape of a tensor does not
/// match the problem.
std::unique_ptr<spec::Implementation<spec::NsaCompress>> nsa_compress(const device::Spec& device,
                                                                      Options options = {});

/// Provides the functions of Tiled (tiled.hpp) for this operator.
template <>
struct Tiled<spec::NsaCompress> {
  static constexpr auto make = nsa_compress;
  /// Formats a schedule for a device: the implementation on the host does not use tiles.
  static std::string plan(const spec::NsaCompress::Problem& problem, const device::Spec& device);
  static std::string trace(const spec::NsaCompress::Problem& problem, const device::Spec& device);
};

}  // namespace assay::optimized
