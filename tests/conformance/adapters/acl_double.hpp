#pragma once

#include <cstdint>

namespace assay::adapters::tests {

/// What the library acl_double does in the next call.
enum class Conduct : std::int32_t {
  fills_outputs,     ///< every viewed element of both gradients becomes the bytes 0x3c
  refuses,           ///< phase 1 answers 161002
  refuses_phase2,    ///< phase 2 answers 361001
  writes_behind,     ///< one byte behind the storage of weightGradOut, too
  writes_before,     ///< one byte before that of inputGradOut, too
  writes_inputs,     ///< the last byte of input, too
  writes_workspace,  ///< one byte behind the workspace, too
  fails_on_device,   ///< aclrtSynchronizeStream answers 507011
  wants_all_memory,  ///< phase 1 answers a workspace of 2^64 - 1 B
  has_no_memory,     ///< aclrtMalloc answers 207001
  makes_no_tensor,   ///< aclCreateTensor answers null
  cannot_fix_order,  ///< aclrtCtxSetSysParamOpt answers 100000
};

/// What acl_double counted: objects that nobody destroyed yet, by kind.
struct Living {
  std::int64_t tensors, arrays, executors, allocations, streams, contexts, runtimes;
};

/// Exported by acl_double beside the documented functions.
using SetConduct = void (*)(Conduct);
using CountLiving = Living (*)();
using WasDeterministic = bool (*)();

}  // namespace assay::adapters::tests
