#include "assay/conformance/judge/properties.hpp"

#include <string>
#include <utility>

#include "operators/nsa_compress_grad/plan/sampling.hpp"
#include "operators/nsa_compress_grad/relations/relations.hpp"

namespace assay::conformance {

template <>
std::vector<Property> properties<spec::NsaCompressGrad>() {
  std::vector<Property> all;
  for (const compress::Relation* relation : compress::relations())
    all.push_back({.name = relation->name,
                   .sentence = relation->sentence,
                   .domain = relation->domain,
                   .agreement = relation->agreement == Agreement::bits ? "bits" : "bound"});
  return all;
}

template <>
std::vector<Case<spec::NsaCompressGrad>> property_cases(std::string_view name) {
  std::vector<compress::CompressCase> cases;
  for (const auto& problem : compress::relation(name).problems()) {
    compress::CompressCase c{.problem = problem, .track = Track::relation};
    c.relation = name;
    cases.push_back(std::move(c));
  }
  return cases;
}

namespace compress {

std::vector<CompressCase> relation_cases(std::uint64_t seed) {
  std::vector<CompressCase> cases;
  for (const Relation* relation : relations())
    for (CompressCase c : property_cases<spec::NsaCompressGrad>(relation->name)) {
      c.seed = seed + cases.size();
      cases.push_back(std::move(c));
    }
  return cases;
}

}  // namespace compress

}  // namespace assay::conformance
