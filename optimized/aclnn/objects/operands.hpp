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

/// Returns whether an optional tensor is present. A null tensor or a tensor of rank 0 counts as
/// absent.
inline bool is_given(const spec::Parameter& parameter) {
  return parameter.present && !parameter.shape.empty();
}

/// The lengths of all sequences and the longest length. The constructor computes them from
/// cumulative lengths (entry k is the sum of the lengths 0 to k).
struct SequenceLengths {
  std::vector<std::int64_t> all;
  std::int64_t longest;
};
SequenceLengths lengths_of(const std::vector<std::int64_t>& sums);

/// The tensors of one call during phase 2 (execution). Keeps their memory alive until the phase has
/// finished.
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
  /// Returns a contiguous tensor of zeros. It has the type and shape of the tensor with this name.
  spec::Tensor blank(std::string_view name) const;
  /// Copies the elements of a contiguous tensor into the view of the tensor with this name. Both
  /// have the same shape. Bytes outside the view do not change.
  void scatter(std::string_view name, const spec::Tensor& values) const;

 private:
  const Binding* find(std::string_view name) const;
  const Binding& given(std::string_view name) const;

  std::vector<Binding> bindings_;
};

/// The tensors of one call and its arrays in host memory, under their documented names.
class Operands {
 public:
  /// Adds a tensor that phase 2 (execution) may read and write. A null handle means that the tensor
  /// is absent; in phase 2, a tensor of rank 0 is also absent. Errors: Failure if the tensor was
  /// destroyed or never created.
  spec::Parameter tensor(std::string_view name, const aclTensor* handle);
  /// Adds a tensor of which only the description matters: no phase accesses its elements.
  spec::Parameter reserved(std::string_view name, const aclTensor* handle);
  /// Adds an array in host memory. Errors: Failure if the array was destroyed or never created.
  std::optional<std::vector<std::int64_t>> array(std::string_view name, const aclIntArray* handle);

  /// Returns a text for error messages. It lists the tensor types that namespace spec does not
  /// define, and the types that are used instead. Usually empty.
  const std::string& notes() const { return notes_; }

  /// For phase 1 (workspace query): checks that no tensor is larger than the device memory, so that
  /// its size fits in 64 bits. Errors: Failure, naming the tensor.
  void require_size(const Memory& memory) const;
  /// For phase 2 (execution): checks that every object still exists. Errors: Failure if a tensor or
  /// array was destroyed after phase 1; the message names it.
  void require_alive() const;
  /// For phase 2 (execution): checks the addresses of the tensors. Errors: Failure, naming the
  /// tensor, if its elements are not in allocated device memory.
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
