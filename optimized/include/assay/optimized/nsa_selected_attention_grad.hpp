#pragma once

#include <memory>
#include <string>

#include "assay/device/ascend.hpp"
#include "assay/optimized/options.hpp"
#include "assay/optimized/tiled.hpp"
#include "assay/spec/implementation.hpp"
#include "assay/spec/operators/nsa_selected_attention_grad.hpp"

namespace assay::optimized {

/// The tiled gradient on a modelled device, key block by key block.
///
/// The lists are inverted first: for every key block of every sequence and key head, the query
/// tokens that list it, in ascending order, each as often as it does. The rows of such tokens are
/// gathered into tiles that meet the block once it is loaded, so that tiles are full whatever the
/// number of query heads per key head, and dk and dv of a block belong to one core; only dq is
/// added to from several blocks. Blocks of which a token sees nothing are left out of its list.
///
/// Each output element is accumulated in fp32 in one order. Scores and dP: one chain of fused
/// multiply-adds over the channels. dq: per listed block one chain over its keys, the blocks added
/// in ascending order. dk, dv: per record of row tiles one chain over its rows, token by token and
/// in it head by head, the records added in ascending order. The order follows from tiling and
/// lists alone, so the bits depend on neither threads nor instructions, nor on the order of a list.
///
/// Sparse mode 2 hides the keys behind a query's position where the mask is passed, whose elements
/// are not read; without one it hides nothing. Hidden keys have P = 0 and dS = 0 exactly.
///
/// It has a forward, too: all scores of a token, then their maximum, exponentials and sum, then the
/// product with value in the order of the list. No cycles are modelled of it.
///
/// Beyond the tensors it holds, per thread, some tiles, the fp32 sums of dq and the inverted lists
/// of one key head, and a number per query row.
/// Errors: std::invalid_argument for instructions that this machine lacks.
///         Of check: spec::Rejected.
///         Of run and forward: spec::Rejected for an index that names no block of the query's
///         sequence; device::DeviceFault where a plan does not fit the device.
std::unique_ptr<spec::Implementation<spec::NsaSelectedAttentionGrad>> nsa_selected_attention_grad(
    const device::Spec& device, Options options = {});

/// What programs that offer all implementations make of this one.
template <>
struct Tiled<spec::NsaSelectedAttentionGrad> {
  static constexpr auto make = nsa_selected_attention_grad;
  static std::string plan(const spec::NsaSelectedAttentionGrad::Problem& problem,
                          const device::Spec& device);
  /// The first turns of the queues in the fastest schedule, in the JSON that Perfetto opens.
  static std::string trace(const spec::NsaSelectedAttentionGrad::Problem& problem,
                           const device::Spec& device);
};

}  // namespace assay::optimized
