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

/// Where the elements of a tensor argument lie on the device.
using AddressOf = std::function<void*(std::string_view name, const spec::Parameter& parameter)>;

/// The objects that phase 1 of one call is given; they live as long as this.
class Arguments {
 public:
  Arguments(const AclRuntime& runtime, AddressOf address_of)
      : runtime_(runtime), address_of_(std::move(address_of)) {}
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;

  /// Null for an absent parameter. Errors: spec::Rejected if the library makes no tensor of that
  /// description.
  const acl::Tensor* tensor(std::string_view name, const spec::Parameter& parameter);
  /// Null for an absent array.
  const acl::IntArray* array(const std::optional<std::vector<std::int64_t>>& values);
  /// Null for absent text.
  char* text(const std::optional<std::string>& text);

 private:
  using Object = std::unique_ptr<const void, std::function<void(const void*)>>;

  const AclRuntime& runtime_;
  AddressOf address_of_;
  std::list<Object> objects_;
  std::list<std::string> texts_;
};

}  // namespace assay::adapters
