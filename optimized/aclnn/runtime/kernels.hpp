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

/// The implementations of one operator: as many as there are calls at a time, since one holds the
/// workspace of its call. Safe for several threads.
template <class Op>
class Kernels {
 public:
  using Implementation = spec::Implementation<Op>;
  using Make = std::unique_ptr<Implementation> (*)(const device::Spec& device,
                                                   optimized::Options options);

  Kernels(const device::Spec& device, Make make) : device_(device), make_(make) {}

  /// Calls use(implementation) with one that nobody else uses.
  template <class Use>
  void with_one(const Use& use) {
    std::unique_ptr<Implementation> own = take();
    use(*own);  // one that threw is not used again
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(own));
  }

  /// Phase 1. Errors: spec::Rejected; Failure for a call that the implementation does not offer.
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
