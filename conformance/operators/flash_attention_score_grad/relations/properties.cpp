#include "assay/conformance/judge/properties.hpp"

#include "operators/flash_attention_score_grad/relations/cascade.hpp"

namespace assay::conformance {

template <>
std::vector<Property> properties<spec::FlashAttentionScoreGrad>() {
  std::vector<Property> all;
  for (const flash::Relation* relation : flash::relations())
    all.push_back({.name = relation->name,
                   .sentence = relation->sentence,
                   .domain = relation->domain,
                   .agreement = relation->agreement == Agreement::bits ? "bits" : "bound"});
  all.push_back({.name = flash::cascade_name,
                 .sentence =
                     "A kernel's own forward, and its gradient of what that forward left, are "
                     "each within their bound.",
                 .domain = "kernels that offer a forward",
                 .agreement = "bound"});
  return all;
}

template <>
std::vector<Case<spec::FlashAttentionScoreGrad>> property_cases(std::string_view name) {
  if (name == flash::cascade_name) return flash::cascade_cases();
  std::vector<flash::FlashCase> cases;
  for (const spec::FlashAttentionScoreGrad::Problem& problem : flash::relation(name).problems()) {
    flash::FlashCase c{
        .problem = problem, .surface = flash::surface_of(problem), .track = Track::relation};
    c.relation = name;
    cases.push_back(c);
  }
  return cases;
}

}  // namespace assay::conformance
