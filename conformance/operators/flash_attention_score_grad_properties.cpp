#include "assay/conformance/properties.hpp"

#include "operators/flash_attention_score_grad_relations.hpp"

namespace assay::conformance {

template <>
std::vector<Property> properties<spec::FlashAttentionScoreGrad>() {
  std::vector<Property> all;
  for (const flash::Relation* relation : flash::relations())
    all.push_back({.name = relation->name,
                   .sentence = relation->sentence,
                   .agreement = relation->agreement == flash::Agreement::bits ? "bits" : "bound"});
  return all;
}

template <>
std::vector<Case<spec::FlashAttentionScoreGrad>> property_cases(std::string_view name) {
  std::vector<flash::FlashCase> cases;
  for (const spec::FlashAttentionScoreGrad::Problem& problem : flash::relation(name).problems()) {
    flash::FlashCase c{.problem = problem,
                       .surface = flash::surface_of(problem),
                       .track = Track::relation};
    c.relation = name;
    cases.push_back(c);
  }
  return cases;
}

}  // namespace assay::conformance
