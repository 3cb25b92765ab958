#pragma once

#include <memory>
#include <string>

#include "assay/device/ascend.hpp"
#include "assay/optimized/options.hpp"
#include "assay/optimized/tiled.hpp"
#include "assay/spec/implementation.hpp"
#include "assay/spec/operators/sparse_flash_attention_grad.hpp"

namespace assay::optimized {

/// Returns the tiled gradient of sparse flash attention on a modelled device. The implementation
/// processes the query tokens one by one.
///
/// For each token, the implementation collects the visible keys of the listed blocks, in ascending
/// order, and gathers their rows into tiles. The rows of a tile of scores are all query heads of
/// the token. The channels of the rope part follow the channels of query and key, so that both
/// parts are added in one chain.
///
/// Each output element is accumulated in fp32, in one fixed order. Scores and dP: one chain of
/// fused multiply-adds over the channels. d_query: for each tile, one chain over its keys; these
/// partial sums are added in ascending order of keys. d_key and d_value: for each token, one chain
/// over its heads; these partial sums are added in ascending order of tokens. Results are therefore
/// bit-identical for every thread count, every instruction set of the host, and every order of the
/// entries in a list. If value is null, the values are the keys, and d_value is added to the scaled
/// d_key before the cast.
///
/// An entry below 0 ends a list. Keys after the last visible key do not contribute.
///
/// Memory in addition to the tensors: for each thread some tiles; the fp32 sums of d_key and
/// d_value of one sequence.
/// Errors: std::invalid_argument if the machine does not have the selected instructions.
///         `check` throws spec::Rejected.
///         `run` throws spec::Rejected if a list contains a block without visible keys, and
///         device::DeviceFault if a plan does not fit the device.
std::unique_ptr<spec::Implementation<spec::SparseFlashAttentionGrad>> sparse_flash_attention_grad(
    const device::Spec& device, Options options = {});

/// Provides the functions of Tiled (tiled.hpp) for this operator.
template <>
struct Tiled<spec::SparseFlashAttentionGrad> {
  static constexpr auto make = sparse_flash_attention_grad;
  static std::string plan(const spec::SparseFlashAttentionGrad::Problem& problem,
                          const device::Spec& device);
  static std::string trace(const spec::SparseFlashAttentionGrad::Problem& problem,
                           const device::Spec& device);
};

}  // namespace assay::optimized
