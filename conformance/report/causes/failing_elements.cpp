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

std::optional<Multiple> multiple_of(const std::string& relation) {
  constexpr std::string_view due = " times what is due", before_quantity = ": ";
  const std::size_t at = relation.find(due);
  if (at == std::string::npos) return {};
  const std::size_t end = at + due.size();
  const bool is_named = relation.compare(end, before_quantity.size(), before_quantity) == 0;
  Multiple multiple{.relation = relation.substr(0, end), .quantities = {}};
  constexpr std::string_view between = " or ";
  for (std::size_t from = is_named ? end + before_quantity.size() : relation.size();
       from < relation.size();) {
    const std::size_t to = std::min(relation.find(between, from), relation.size());
    multiple.quantities.push_back(relation.substr(from, to - from));
    from = to + between.size();
  }
  return multiple;
}

}  // namespace assay::conformance
