#pragma once

#include <string>

#include "assay/device/ascend.hpp"
#include "assay/spec/operators/sparse_flash_attention_grad.hpp"

namespace assay::optimized {

namespace sparse_flash {

/// The properties of a sparse-attention problem that determine its time.
struct Gathering {
  std::int64_t heads = 1;              ///< query heads of a token
  std::int64_t tokens = 1;             ///< query tokens with keys, of all sequences
  std::int64_t listed = 1;             ///< keys to which such a token attends, on average
  std::int64_t queries = 1, keys = 1;  ///< all query tokens, all keys
  std::int64_t width = 0;              ///< channels of query and key, with the rope part
  std::int64_t values = 0;             ///< channels of value; 0: the values are the keys
  device::Bytes element = {2};
};

Gathering gathering_of(const spec::SparseFlashProblem& problem);

}  // namespace sparse_flash

namespace schedules {

/// The functions have the same names and tasks as those in planner.hpp, but are for schedules that
/// process one token after the other. The vector cores gather the rows of a tile of listed keys
/// before the cube (matrix) core needs them; d_key and d_value of a tile are added in global
/// memory.
std::string report(const sparse_flash::Gathering& gathering, const device::Spec& device);
std::string trace(const sparse_flash::Gathering& gathering, const device::Spec& device);

}  // namespace schedules
}  // namespace assay::optimized
