#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>
#include <vector>

namespace assay::conformance {

/// fixtures/model_shapes.json as it was at build time.
std::string_view model_shapes_json();

/// Its entries of one operator.
std::vector<nlohmann::json> model_entries(std::string_view operator_name);

}  // namespace assay::conformance
