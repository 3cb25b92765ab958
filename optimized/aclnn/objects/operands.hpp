#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aclnn/objects/objects.hpp"
#include "aclnn/runtime/memory.hpp"
#include "assay/spec/tensor.hpp"

namespace assay::aclnn {

/// An optional tensor that is null or has rank 0 is absent.
inline bool is_given(const spec::Parameter& parameter) {
  return parameter.present && !parameter.shape.empty();
}

/// What a string argument says; nothing for null.
std::optional<std::string> text(const char* given);

/// Lengths of the sequences that inclusive sums cut off, and the longest.
struct SequenceLengths {
  std::vector<std::int64_t> all;
  std::int64_t longest;
};
SequenceLengths lengths_of(const std::vector<std::int64_t>& sums);

/// The tensors of one phase 2: where their bytes are, kept alive until it is done.
class Bindings {
 public:
  struct Binding {
    std::string_view name;
    std::shared_ptr<const TensorView> view;
    std::shared_ptr<const Allocation> memory;  ///< null for a tensor without elements
  };
  explicit Bindings(std::vector<Binding> bindings) : bindings_(std::move(bindings)) {}

  /// A contiguous copy of the tensor of that name, which was given.
  spec::Tensor gather(std::string_view name) const;
  /// Nothing for a tensor that was not given.
  std::optional<spec::Tensor> gather_if_given(std::string_view name) const;
  /// Contiguous zeros like the tensor.
  spec::Tensor blank(std::string_view name) const;
  /// Writes the elements of a contiguous tensor of the same shape, and no other byte.
  void scatter(std::string_view name, const spec::Tensor& values) const;

 private:
  const Binding* find(std::string_view name) const;
  const Binding& given(std::string_view name) const;

  std::vector<Binding> bindings_;
};

/// The tensors and host arrays of one call, by their documented names.
class Operands {
 public:
  /// What phase 1 is told of a tensor whose elements phase 2 may touch. Null stands for an absent
  /// one; so does, in phase 2, rank 0. Errors: Failure for a handle that is no live tensor.
  spec::Parameter tensor(std::string_view name, const aclTensor* handle);
  /// Of a tensor whose elements nobody touches.
  spec::Parameter reserved(std::string_view name, const aclTensor* handle);
  /// Errors: Failure for a handle that is no live array.
  std::optional<std::vector<std::int64_t>> array(std::string_view name, const aclIntArray* handle);

  /// Types that the contract does not know, and for what they were taken; empty if there are none.
  const std::string& notes() const { return notes_; }

  /// Phase 1. Errors: Failure, naming the tensor, for one that is larger than the device, so that
  /// what is computed from sizes is counted in 64 bits.
  void require_size(const Memory& memory) const;
  /// Phase 2. Errors: Failure, naming the tensor, for one that was destroyed since phase 1 or whose
  /// elements do not lie in live device memory.
  void require_alive() const;
  Bindings bind(const Memory& memory) const;

 private:
  struct Operand {
    std::string_view name;
    const aclTensor* handle;
    std::shared_ptr<const TensorView> view;
    bool touched;
  };
  struct Array {
    std::string_view name;
    const aclIntArray* handle;
  };

  spec::Parameter describe(std::string_view name, const aclTensor* handle, bool touched);

  std::vector<Operand> operands_;
  std::vector<Array> arrays_;
  std::string notes_;
};

}  // namespace assay::aclnn
