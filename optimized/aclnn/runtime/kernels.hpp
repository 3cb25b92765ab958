#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "aclnn/aclnn_base.h"
#include "aclnn/runtime/failure.hpp"
#include "assay/device/ascend.hpp"
#include "assay/optimized/options.hpp"
#include "assay/spec/implementation.hpp"

namespace assay::aclnn {

/// A pool of implementations of one operator. Concurrent calls use different implementations,
/// because each implementation contains the workspace of its call. Thread-safe.
template <class Op>
class Kernels {
 public:
  using Implementation = spec::Implementation<Op>;
  using Make = std::unique_ptr<Implementation> (*)(const device::Spec& device,
                                                   optimized::Options options);

  Kernels(const device::Spec& device, Make make) : device_(device), make_(make) {}

  /// Calls use(implementation) with a free implementation. No other call uses this implementation
  /// at the same time.
  template <class Use>
  void with_one(const Use& use) {
    std::unique_ptr<Implementation> own = take();
    use(*own);  // after an exception it is not reused
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(own));
  }

  /// Checks a call in phase 1 (workspace query). Errors: spec::Rejected if the call violates a
  /// requirement; Failure if the implementation does not support the call.
  void check(const spec::Call<Op>& call) {
    with_one([&](Implementation& kernel) {
      kernel.check(call);
      if (const auto reason = kernel.unsupported(call))
        throw Failure(ACLNN_ERR_INNER_FIND_KERNEL_ERROR, *reason);
    });
  }

 private:
  std::unique_ptr<Implementation> take() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        std::unique_ptr<Implementation> last = std::move(idle_.back());
        idle_.pop_back();
        return last;
      }
    }
    return make_(device_, {});
  }

  device::Spec device_;
  Make make_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Implementation>> idle_;
};

}  // namespace assay::aclnn
