#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/spec/numerics.hpp"

namespace assay::adapters {

/// The settings in the text after `aclnn:`.
struct AclnnSettings {
  std::vector<std::string> paths;
  std::int32_t device = 0;
  std::string preset = "ascend_a2";
  /// Names and values of numerics fields, in the order in which they were given.
  std::vector<std::pair<std::string, std::string>> fields;

  /// Returns the declared numerics for tensors of type `io` of the operator.
  spec::Numerics numerics(spec::DType io, std::string_view operator_name) const;
  /// Returns whether the adapter requests deterministic results from the library.
  bool asks_for_order() const;
};

/// Parses the settings. Errors: std::invalid_argument with the wrong word and the accepted words.
AclnnSettings parse_aclnn_settings(const std::string& rest);

}  // namespace assay::adapters
