#pragma once

#include <string>
#include <vector>

#include "assay/spec/implementation.hpp"
#include "assay/spec/tensor.hpp"
#include "isolated/guarded_memory.hpp"

namespace assay::adapters {

/// A tensor that is shared with a worker for one run.
struct SharedTensor {
  std::string name;
  const spec::Tensor* tensor;
};

/// Copies of tensors in memory that is shared with a worker. The class also checks what the worker
/// damaged.
class SharedTensors {
 public:
  SharedTensors(KeptFile& kept, std::vector<SharedTensor> tensors);

  int file() const { return memory_.file(); }
  std::int64_t bytes() const { return memory_.bytes(); }
  /// Describes which guard bytes next to the tensors were overwritten; empty if none was.
  std::string guard_damage() const;
  /// Describes which of the first `count` tensors the worker changed; empty if it changed none.
  std::string changes(std::size_t count);
  /// Copies the bytes of shared tensor number `index` back into `tensor`.
  void return_to(spec::Tensor& tensor, std::size_t index);

 private:
  std::vector<SharedTensor> tensors_;
  SharedMemory memory_;
};

}  // namespace assay::adapters
