#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aclnn/library.hpp"
#include "assay/spec/call.hpp"

namespace assay::adapters {

/// Returns the device address of the elements of a tensor argument.
using AddressOf = std::function<void*(std::string_view name, const spec::Parameter& parameter)>;

/// Creates and owns the objects (tensors, arrays, texts) that one call passes to phase 1
/// (GetWorkspaceSize).
class Arguments {
 public:
  Arguments(const AclRuntime& runtime, AddressOf address_of)
      : runtime_(runtime), address_of_(std::move(address_of)) {}
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;

  /// Creates a tensor; returns null for an absent parameter. Errors: spec::Rejected if the library
  /// cannot create the tensor.
  const acl::Tensor* tensor(std::string_view name, const spec::Parameter& parameter);
  /// Creates an array; returns null if `values` is absent.
  const acl::IntArray* array(const std::optional<std::vector<std::int64_t>>& values);
  /// Creates a text; returns null if `text` is absent.
  char* text(const std::optional<std::string>& text);

 private:
  using Object = std::unique_ptr<const void, std::function<void(const void*)>>;

  const AclRuntime& runtime_;
  AddressOf address_of_;
  std::list<Object> objects_;
  std::list<std::string> texts_;
};

}  // namespace assay::adapters
