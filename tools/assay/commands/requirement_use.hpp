#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "assay/conformance/plan/sampling.hpp"

namespace assay::cli {

/// "documented", or with the entry points to which that is limited: "documented for u1, u3;
/// upstream's for others".
template <class Op>
std::string standing_text(const spec::Requirement<Op>& requirement) {
  std::string names;
  for (const auto entry_point : requirement.stated_for)
    names += (names.empty() ? " for " : ", ") + std::string(spec::to_string(entry_point));
  return std::string(spec::to_string(requirement.standing)) + names +
         (names.empty() ? "" : "; upstream's for others");
}

/// Where the planned cases meet one requirement.
struct RequirementUse {
  std::vector<std::string>
      entry_points;  ///< entry points with a call about which the requirement says something
  std::map<std::string, std::vector<std::string>>
      met_on;            ///< variant -> entry points that have room for it
  std::string met_line;  ///< replay line of the first of them
  std::map<std::string, std::vector<std::string>>
      broken_on;            ///< violation -> entry points that can break it
  std::string broken_line;  ///< replay line of the first call that breaks the requirement
};

template <class Op>
RequirementUse requirement_use(const spec::Requirement<Op>& requirement) {
  RequirementUse use;
  const auto add = [](std::vector<std::string>& names, const std::string& name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  };
  const auto cases = conformance::sample<Op>({});
  for (const auto& [entry_point, name] : spec::spellings_of<typename Op::EntryPoint>.entries)
    for (const conformance::Case<Op>& c : cases) {
      if (c.entry_point != entry_point) continue;
      if (requirement.applies(conformance::call_of(c))) add(use.entry_points, std::string(name));
      if (conformance::requirement_named_in(c.variant) == requirement.id) {
        add(use.met_on[c.variant], std::string(name));
        if (use.met_line.empty()) use.met_line = conformance::command_line(c);
      }
      if (conformance::requirement_named_in(c.violate) != requirement.id) continue;
      add(use.broken_on[c.violate], std::string(name));
      if (use.broken_line.empty()) use.broken_line = conformance::command_line(c);
    }
  return use;
}

}  // namespace assay::cli
