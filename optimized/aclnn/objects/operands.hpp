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

/// Returns whether an optional tensor is present: a null tensor or rank 0 means absent.
inline bool is_given(const spec::Parameter& parameter) {
  return parameter.present && !parameter.shape.empty();
}

/// The lengths of the sequences and the longest length, computed from cumulative lengths (entry k
/// is the sum of the lengths 0 to k).
struct SequenceLengths {
  std::vector<std::int64_t> all;
  std::int64_t longest;
};
SequenceLengths lengths_of(const std::vector<std::int64_t>& sums);

/// The tensors of one call in phase 2. Keeps their memory alive until the phase has finished.
class Bindings {
 public:
  struct Binding {
    std::string_view name;
    std::shared_ptr<const TensorView> view;
    std::shared_ptr<const Allocation> memory;  ///< null for a tensor without elements
  };
  explicit Bindings(std::vector<Binding> bindings) : bindings_(std::move(bindings)) {}

  /// Returns a contiguous copy of the tensor with this name. The tensor must be present.
  spec::Tensor gather(std::string_view name) const;
  /// Returns the same copy as `gather`, or nothing if the tensor is absent.
  std::optional<spec::Tensor> gather_if_given(std::string_view name) const;
  /// Returns a contiguous tensor of zeros with the same type and shape.
  spec::Tensor blank(std::string_view name) const;
  /// Copies a contiguous tensor of the same shape to the viewed elements, and changes no other
  /// byte.
  void scatter(std::string_view name, const spec::Tensor& values) const;

 private:
  const Binding* find(std::string_view name) const;
  const Binding& given(std::string_view name) const;

  std::vector<Binding> bindings_;
};

/// The tensors and host arrays of one call, under their documented names.
class Operands {
 public:
  /// Adds a tensor whose elements phase 2 may access. A null handle means absent; in phase 2, a
  /// tensor of rank 0 is also absent. Errors: Failure if the tensor was destroyed or never created.
  spec::Parameter tensor(std::string_view name, const aclTensor* handle);
  /// Adds a tensor whose elements are never accessed.
  spec::Parameter reserved(std::string_view name, const aclTensor* handle);
  /// Adds a host array. Errors: Failure if the array was destroyed or never created.
  std::optional<std::vector<std::int64_t>> array(std::string_view name, const aclIntArray* handle);

  /// Returns a text for error messages: the tensor types that spec does not define, and the types
  /// that are used instead. Usually empty.
  const std::string& notes() const { return notes_; }

  /// For phase 1: checks that no tensor is larger than the device memory, so that its size fits in
  /// 64 bits. Errors: Failure, naming the tensor.
  void require_size(const Memory& memory) const;
  /// For phase 2: checks that every object still exists. Errors: Failure, naming the tensor or
  /// array, if one was destroyed after phase 1.
  void require_alive() const;
  /// For phase 2: checks addresses. Errors: Failure, naming the tensor, if its elements are not in
  /// allocated device memory.
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
