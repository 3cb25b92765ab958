#include "assay/conformance/judge/properties.hpp"

#include "operators/nsa_selected_attention_grad/relations/relations.hpp"

namespace assay::conformance {

template <>
std::vector<Property> properties<spec::NsaSelectedAttentionGrad>() {
  std::vector<Property> all;
  for (const selected::Relation* relation : selected::relations())
    all.push_back({.name = relation->name,
                   .sentence = relation->sentence,
                   .domain = relation->domain,
                   .agreement = relation->agreement == Agreement::bits ? "bits" : "bound"});
  return all;
}

template <>
std::vector<Case<spec::NsaSelectedAttentionGrad>> property_cases(std::string_view name) {
  const std::string_view known = selected::relation(name).name;
  std::vector<selected::SelectedCase> cases = selected::relation_cases(1);
  std::erase_if(cases, [&](const selected::SelectedCase& c) { return c.relation != known; });
  return cases;
}

}  // namespace assay::conformance
