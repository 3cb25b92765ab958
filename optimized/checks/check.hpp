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

/// One argument check of phase 1 (workspace query). Each check implements one documented
/// requirement.
template <class Op>
struct ArgumentCheck {
  using Call = spec::Call<Op>;

  std::string_view id;
  spec::Status status;
  /// Returns the violation (parameter, value, limit), or nothing if the requirement holds. The
  /// function may assume that all earlier checks passed.
  std::optional<std::string> (*refusal)(const Call& call);
};

/// Returns the checks of all groups in one list; groups and checks keep their order.
template <class Op>
std::vector<ArgumentCheck<Op>> joined(
    std::initializer_list<std::span<const ArgumentCheck<Op>>> groups) {
  std::vector<ArgumentCheck<Op>> all;
  for (const auto group : groups) all.insert(all.end(), group.begin(), group.end());
  return all;
}

/// Runs the checks in order. Errors: spec::Rejected for the first violation; the message starts
/// with the id of the requirement.
template <class Op>
void refuse_unless_all_hold(std::span<const ArgumentCheck<Op>> checks, const spec::Call<Op>& call) {
  for (const ArgumentCheck<Op>& check : checks)
    if (const auto refusal = check.refusal(call))
      throw spec::Rejected(check.status, std::string(check.id) + ": " + *refusal);
}

}  // namespace assay::optimized
