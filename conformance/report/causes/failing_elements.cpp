#include "report/causes/failing_elements.hpp"

#include <algorithm>
#include <string_view>

namespace assay::conformance {

InCommon in_common(const Finding& finding) {
  if (finding.text.find(" judged elements of ") == std::string::npos) return {};
  for (const std::string_view verb : {" fail", " differ"}) {
    const std::size_t at = finding.text.find(finding.tensor + std::string(verb));
    if (at == std::string::npos) continue;
    const std::string text = finding.text.substr(at + finding.tensor.size() + verb.size());
    const std::size_t relation = std::min(text.find(", where "), text.find("; "));
    const auto told = [](const std::string& part) {
      return part.substr(std::min(part.size(), part.find_first_not_of(",; ")));
    };
    return {told(text.substr(0, relation)),
            relation == std::string::npos ? "" : told(text.substr(relation))};
  }
  return {};
}

}  // namespace assay::conformance
