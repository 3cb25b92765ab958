#pragma once

#include <cstdint>

namespace assay::adapters::tests {

/// How the test library acl_double behaves in the next call.
enum class Conduct : std::int32_t {
  fills_outputs,     ///< every viewed element of both gradients becomes the bytes 0x3c
  refuses,           ///< phase 1 answers 161002
  refuses_phase2,    ///< phase 2 answers 361001
  writes_after,      ///< also writes one byte after the storage of weightGradOut
  writes_before,     ///< also writes one byte before the storage of inputGradOut
  writes_inputs,     ///< also writes the last byte of input
  writes_workspace,  ///< also writes one byte after the workspace
  fails_on_device,   ///< aclrtSynchronizeStream answers 507011
  wants_all_memory,  ///< phase 1 requests a workspace of 2^64 - 1 B
  has_no_memory,     ///< aclrtMalloc answers 207001
  makes_no_tensor,   ///< aclCreateTensor answers null
  cannot_fix_order,  ///< aclrtCtxSetSysParamOpt answers 100000
};

/// Counts the objects of acl_double that are not yet destroyed, separately for each type of object.
struct Living {
  std::int64_t tensors, arrays, executors, allocations, streams, contexts, runtimes;
};

/// Functions that acl_double exports in addition to the documented ones.
using SetConduct = void (*)(Conduct);
using CountLiving = Living (*)();
using WasDeterministic = bool (*)();

}  // namespace assay::adapters::tests
