#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/spec/numerics.hpp"

namespace assay::adapters {

/// The settings of an aclnn implementation, parsed from the text after `aclnn:`.
struct AclnnSettings {
  std::vector<std::string> paths;
  std::int32_t device = 0;
  std::string preset = "ascend_a2";
  /// Names and values of the numerics fields (the kernel's declared arithmetic), in the order in
  /// which the user gave them.
  std::vector<std::pair<std::string, std::string>> fields;

  /// Returns the numerics (the declared arithmetic of the kernel) for tensors of type `io`.
  spec::Numerics numerics(spec::DType io, std::string_view operator_name) const;
  /// Returns whether the adapter requests deterministic results from the library.
  bool asks_for_order() const;
};

/// Parses the settings. Errors: std::invalid_argument with the invalid word and the accepted words.
AclnnSettings parse_aclnn_settings(const std::string& rest);

}  // namespace assay::adapters
