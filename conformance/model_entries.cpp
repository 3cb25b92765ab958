#include "model_entries.hpp"

#include <nlohmann/json.hpp>

#include "assay/spec/operators/flash_attention_score_grad.hpp"

namespace assay::conformance {

std::vector<nlohmann::json> model_entries(std::string_view operator_name) {
  std::vector<nlohmann::json> entries;
  const auto shapes = nlohmann::json::parse(model_shapes_json());
  const std::string unnamed(spec::FlashAttentionScoreGrad::name);
  for (const auto& entry : shapes.at("models"))
    if (entry.value("operator", unnamed) == operator_name) entries.push_back(entry);
  return entries;
}

}  // namespace assay::conformance
