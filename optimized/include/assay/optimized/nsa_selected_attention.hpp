#pragma once

#include <memory>
#include <string>

#include "assay/device/ascend.hpp"
#include "assay/optimized/options.hpp"
#include "assay/optimized/tiled.hpp"
#include "assay/spec/implementation.hpp"
#include "assay/spec/operators/nsa_selected_attention.hpp"

namespace assay::optimized {

/// Returns an implementation of attention to selected blocks on the host. It computes all scores of
/// a query before the first exponential. Probabilities are divided by their sum and rounded to the
/// type of the tensors before they are multiplied by value, as in the vendor's kernel. Products are
/// summed in fp32. The results are bit-identical for every thread count and instruction set.
///
/// Errors: std::invalid_argument if the machine does not have the selected instructions. `check`
/// throws spec::Rejected. `run` throws spec::Rejected for an index outside its sequence, and
/// std::invalid_argument if the shape of a tensor does not match the problem.
std::unique_ptr<spec::Implementation<spec::NsaSelectedAttention>> nsa_selected_attention(
    const device::Spec& device, Options options = {});

/// Provides the functions of Tiled (tiled.hpp) for this operator.
template <>
struct Tiled<spec::NsaSelectedAttention> {
  static constexpr auto make = nsa_selected_attention;
  /// Formats a schedule for a device: the implementation on the host does not use tiles.
  static std::string plan(const spec::NsaSelectedAttention::Problem& problem,
                          const device::Spec& device);
  static std::string trace(const spec::NsaSelectedAttention::Problem& problem,
                           const device::Spec& device);
};

}  // namespace assay::optimized
