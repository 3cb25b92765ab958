#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/spec/call.hpp"
#include "assay/spec/status.hpp"

namespace assay::optimized {

/// One refusal that phase 1 of an operator knows: a requirement of its documents.
template <class Op>
struct ArgumentCheck {
  using Call = spec::Call<Op>;

  std::string_view id;
  spec::Status status;
  /// What is wrong: parameter, value, limit; nothing if the requirement holds. It may rely on the
  /// checks before it.
  std::optional<std::string> (*refusal)(const Call& call);
};

/// The checks of all groups, in their order.
template <class Op>
std::vector<ArgumentCheck<Op>> joined(
    std::initializer_list<std::span<const ArgumentCheck<Op>>> groups) {
  std::vector<ArgumentCheck<Op>> all;
  for (const auto group : groups) all.insert(all.end(), group.begin(), group.end());
  return all;
}

/// Makes the checks in their order. Errors: spec::Rejected; the message begins with the id of the
/// requirement.
template <class Op>
void refuse_unless_all_hold(std::span<const ArgumentCheck<Op>> checks, const spec::Call<Op>& call) {
  for (const ArgumentCheck<Op>& check : checks)
    if (const auto refusal = check.refusal(call))
      throw spec::Rejected(check.status, std::string(check.id) + ": " + *refusal);
}

}  // namespace assay::optimized
