#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "assay/mutants/mutant.hpp"
#include "assay/spec/requirement.hpp"
#include "assay/spec/status.hpp"

namespace assay::mutants {

/// A kernel's own rule for one argument check: returns whether the kernel accepts a call.
template <class Op>
using Accepts = bool (*)(const spec::Call<Op>& call);

/// Describes how the argument checks of a kernel differ from the operator's table of requirements.
template <class Op>
struct Checks {
  bool are_none = false;      ///< the kernel accepts every call
  std::string left_out = {};  ///< id of the requirement that the kernel does not check
  bool are_strict = false;    ///< the kernel also refuses calls that are open or disputed
  spec::Status for_null = spec::Status::param_nullptr;
  std::string replaced = {};  ///< id of the requirement that the kernel checks with `replacement`
  Accepts<Op> replacement = nullptr;
  std::string extra_demand = {};  ///< describes `extra`, a check that no document asks for
  Accepts<Op> extra = nullptr;
};

/// Returns the first requirement for which a kernel with these argument checks refuses `call`; null
/// if it accepts the call.
template <class Op>
const spec::Requirement<Op>* refused_by(const spec::Call<Op>& call, const Checks<Op>& checks = {}) {
  if (checks.are_none) return nullptr;
  for (const spec::Requirement<Op>& one : Op::requirements()) {
    if (one.id == checks.left_out) continue;
    if (!checks.are_strict && !one.binds(call.entry_point, {})) continue;
    if (!(one.id == checks.replaced ? checks.replacement : one.holds)(call)) return &one;
  }
  return nullptr;
}

/// A kernel that makes the given argument checks in phase 1 (the workspace query before the run).
template <class Op, class Kernel>
class CheckedKernel : public Kernel {
 public:
  template <class Plan>
  CheckedKernel(std::string name, const Plan& plan, Checks<Op> checks)
      : Kernel(std::move(name), plan), checks_(std::move(checks)) {}

  bool checks_arguments() const override { return true; }
  void check(const spec::Call<Op>& call) const override {
    if (const auto* broken = refused_by(call, checks_)) {
      const bool is_null = broken->status.code == spec::Status::param_nullptr;
      const spec::Status status = broken->status.any ? spec::Status::param_invalid
                                  : is_null          ? checks_.for_null
                                                     : broken->status.code;
      throw spec::Rejected(status, std::string(broken->id) + ": " + std::string(broken->statement));
    }
    if (checks_.extra != nullptr && !checks_.extra(call))
      throw spec::Rejected(spec::Status::param_invalid, checks_.extra_demand);
  }

 private:
  Checks<Op> checks_;
};

/// Returns a kernel that computes as `plan` says and makes the given argument checks. `bug`
/// describes the fault in these checks.
template <class Kernel, class Op, class Plan>
MutantOf<Op> checking(const std::string& name, std::string bug, const Plan& plan,
                      const Checks<Op>& checks) {
  return {.name = name,
          .bug = std::move(bug),
          .healthy = false,
          .subject = Subject::arguments,
          .make = [name, plan, checks] {
            return std::make_unique<CheckedKernel<Op, Kernel>>(name, plan, checks);
          }};
}

/// Returns the requirements that a kernel must check and that a call can violate without violating
/// another one.
template <class Op>
std::vector<const spec::Requirement<Op>*> checked_requirements() {
  std::vector<const spec::Requirement<Op>*> checked;
  for (const spec::Requirement<Op>& one : Op::requirements())
    if (one.has(spec::Side::reject) && one.implies.empty() &&
        std::ranges::any_of(spec::spellings_of<typename Op::EntryPoint>.entries,
                            [&](const auto& entry) { return one.binds(entry.first, {}); }))
      checked.push_back(&one);
  return checked;
}

/// A wrong argument check, which refuses some legal calls.
template <class Op>
struct ExtraCheck {
  std::string name, bug, demand;
  Accepts<Op> accepts;
};

/// Returns the mutants (kernels with a fault) in the argument checks that every operator has. For
/// each requirement, one kernel does not check it. One kernel returns 161002 for a null pointer,
/// and one kernel has no checks. For each entry of `extra`, one kernel makes this additional check,
/// which refuses legal calls.
template <class Kernel, class Op, class Plan>
std::vector<MutantOf<Op>> careless(const Plan& plan, const std::vector<ExtraCheck<Op>>& extra) {
  std::vector<MutantOf<Op>> all;
  const auto add = [&](const std::string& name, std::string bug, const Checks<Op>& checks) {
    all.push_back(checking<Kernel>(name, std::move(bug), plan, checks));
  };
  for (const spec::Requirement<Op>* one : checked_requirements<Op>()) {
    const std::string id(one->id);
    add("without_" + id, "does not check: " + std::string(one->statement), {.left_out = id});
  }
  add("null_is_invalid", "returns 161002 for a null pointer",
      {.for_null = spec::Status::param_invalid});
  add("no_checks", "accepts every call", {.are_none = true});
  for (const ExtraCheck<Op>& one : extra)
    add(one.name, one.bug, {.extra_demand = one.demand, .extra = one.accepts});
  return all;
}

}  // namespace assay::mutants
