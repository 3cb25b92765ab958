#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/spec/numerics.hpp"

namespace assay::adapters {

/// What the words behind `aclnn:` say.
struct AclnnSettings {
  std::vector<std::string> paths;
  std::int32_t device = 0;
  std::string preset = "ascend_a2";
  /// Fields of the numerics and their values, in the order of the words.
  std::vector<std::pair<std::string, std::string>> fields;

  /// The numerics that is declared for tensors of type `io` of the operator.
  spec::Numerics numerics(spec::DType io, std::string_view operator_name) const;
  /// Whether the library is asked for deterministic results.
  bool asks_for_order() const;
};

/// Errors: std::invalid_argument naming the word and what is accepted.
AclnnSettings parse_aclnn_settings(const std::string& rest);

}  // namespace assay::adapters
