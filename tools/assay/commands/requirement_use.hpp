#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "assay/conformance/plan/sampling.hpp"

namespace assay::cli {

/// Returns the standing of a requirement: the kind of source that states it, such as "documented".
/// If the standing differs between entry points, lists all: "documented for u1, u3; page for u2;
/// else upstream".
template <class Op>
std::string standing_text(const spec::Requirement<Op>& requirement) {
  if (requirement.stated_for.empty() && requirement.page_for.empty())
    return std::string(spec::to_string(requirement.standing));
  const auto standing_for = [&](std::span<const typename Op::EntryPoint> entry_points) {
    std::string names;
    for (const auto entry_point : entry_points)
      names += (names.empty()
                    ? std::string(spec::to_string(requirement.standing_on(entry_point))) + " for "
                    : ", ") +
               std::string(spec::to_string(entry_point));
    return names;
  };
  const std::string seeds = standing_for(requirement.stated_for),
                    pages = standing_for(requirement.page_for);
  std::string text = seeds + (seeds.empty() || pages.empty() ? "" : "; ") + pages;
  if (requirement.standing != spec::Standing::open) text += "; else upstream";
  return text;
}

/// Says which entry points and planned calls exercise one requirement.
struct RequirementUse {
  std::vector<std::string>
      entry_points;  ///< entry points with a call to which the requirement applies
  std::map<std::string, std::vector<std::string>>
      met_on;            ///< variant -> entry points that can use it
  std::string met_line;  ///< replay line of the first such call
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
