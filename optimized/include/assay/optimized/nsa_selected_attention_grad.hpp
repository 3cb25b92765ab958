#pragma once

#include <memory>
#include <string>

#include "assay/device/ascend.hpp"
#include "assay/optimized/options.hpp"
#include "assay/optimized/tiled.hpp"
#include "assay/spec/implementation.hpp"
#include "assay/spec/operators/nsa_selected_attention_grad.hpp"

namespace assay::optimized {

/// Returns the tiled gradient of selected attention on a modelled device. The implementation
/// processes the key blocks one by one.
///
/// The lists (topk_indices) contain the block numbers of each query token. First the implementation
/// inverts the lists: for every key block of every sequence and key head, it collects the tokens
/// that list the block, in ascending order, with repetitions. It gathers the rows of these tokens
/// into tiles, and processes the tiles while the block is loaded. Tiles are therefore full for any
/// number of query heads per key head, and one core computes dk and dv of a block; only dq is
/// summed over several blocks. If all keys of a block are causally masked for a token, the block is
/// removed from the list of this token.
///
/// Each output element is accumulated in fp32, in one fixed order. Scores and dP: one chain of
/// fused multiply-adds over the channels. dq: for each listed block, one chain over its keys; these
/// partial sums are added in ascending order of blocks. dk, dv: the row tiles of a block are split
/// into groups of consecutive tiles (records). Each record has one chain over its rows, by token
/// and then by head; these partial sums are added in ascending order. The order depends only on the
/// tiling and on which blocks are listed. Results are therefore bit-identical for every thread
/// count, every instruction set of the host, and every order of the entries in a list.
///
/// If a mask is passed, sparse mode 2 masks the keys after a query's position; the elements of the
/// mask are not read. Without a mask, mode 2 masks nothing. Masked keys have P = 0 and dS = 0
/// exactly.
///
/// The implementation also computes the forward: all scores of a token, then their maximum,
/// exponentials and sum, then the product with value in the order of the list.
///
/// Memory in addition to the tensors: for each thread some tiles, the fp32 dq sums and the inverted
/// lists of one key head; for each query row one number.
/// Errors: std::invalid_argument if the machine does not have the selected instructions.
///         `check` throws spec::Rejected.
///         `run` and `forward` throw spec::Rejected for an index that is not a block of the
///         query's sequence, and device::DeviceFault if a plan does not fit the device.
std::unique_ptr<spec::Implementation<spec::NsaSelectedAttentionGrad>> nsa_selected_attention_grad(
    const device::Spec& device, Options options = {});

/// Provides the functions of Tiled (tiled.hpp) for this operator.
template <>
struct Tiled<spec::NsaSelectedAttentionGrad> {
  static constexpr auto make = nsa_selected_attention_grad;
  static std::string plan(const spec::NsaSelectedAttentionGrad::Problem& problem,
                          const device::Spec& device);
  /// Returns the first instructions of each queue in the fastest schedule, in the JSON format of
  /// Perfetto.
  static std::string trace(const spec::NsaSelectedAttentionGrad::Problem& problem,
                           const device::Spec& device);
};

}  // namespace assay::optimized
