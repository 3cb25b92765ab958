#include "plan/model_entries.hpp"

#include <nlohmann/json.hpp>

namespace assay::conformance {

std::vector<nlohmann::json> model_entries(std::string_view operator_name) {
  std::vector<nlohmann::json> entries;
  const auto shapes = nlohmann::json::parse(model_shapes_json());
  for (const auto& entry : shapes.at("models"))
    if (entry.at("operator").get<std::string>() == operator_name) entries.push_back(entry);
  return entries;
}

}  // namespace assay::conformance
