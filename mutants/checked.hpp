#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "assay/mutants/mutant.hpp"
#include "assay/spec/call.hpp"
#include "assay/spec/status.hpp"

namespace assay::mutants {

/// One check of phase 1: the requirement that asks for it, what a refusal answers, and whether a
/// call passes.
template <class Op>
struct CheckOf {
  std::string requirement;
  spec::Status status;
  std::string demand;
  bool (*holds)(const spec::Call<Op>& call);
};

/// A kernel whose phase 1 makes the checks that it was given, in their order.
template <class Op, class Kernel>
class CheckedKernel : public Kernel {
 public:
  template <class Plan>
  CheckedKernel(std::string name, const Plan& plan, std::vector<CheckOf<Op>> checks)
      : Kernel(std::move(name), plan), checks_(std::move(checks)) {}

  bool checks_arguments() const override { return true; }
  void check(const spec::Call<Op>& call) const override {
    for (const CheckOf<Op>& one : checks_)
      if (!one.holds(call)) throw spec::Rejected(one.status, one.requirement + ": " + one.demand);
  }

 private:
  std::vector<CheckOf<Op>> checks_;
};

/// `checks` but those of a requirement.
template <class Op>
std::vector<CheckOf<Op>> without(std::vector<CheckOf<Op>> checks, const std::string& id) {
  std::erase_if(checks, [&](const CheckOf<Op>& check) { return check.requirement == id; });
  return checks;
}

/// What the check of a requirement demands.
template <class Op>
std::string demand_of(const std::vector<CheckOf<Op>>& checks, const std::string& id) {
  for (const CheckOf<Op>& check : checks)
    if (check.requirement == id) return check.demand;
  return {};
}

/// The same checks; those that answer 161001 answer `status`.
template <class Op>
std::vector<CheckOf<Op>> with_status_for_null(std::vector<CheckOf<Op>> checks,
                                              spec::Status status) {
  for (CheckOf<Op>& check : checks)
    if (check.status == spec::Status::param_nullptr) check.status = status;
  return checks;
}

/// `checks` and one more.
template <class Op>
std::vector<CheckOf<Op>> and_also(std::vector<CheckOf<Op>> checks, const CheckOf<Op>& more) {
  checks.push_back(more);
  return checks;
}

/// The requirements that ask for the checks.
template <class Op>
std::vector<std::string> requirements_of(const std::vector<CheckOf<Op>>& checks) {
  std::vector<std::string> ids;
  for (const CheckOf<Op>& check : checks) ids.push_back(check.requirement);
  return ids;
}

/// A kernel that follows `plan` and makes these checks: `bug` says which are wrong.
template <class Kernel, class Op, class Plan>
MutantOf<Op> checking(const std::string& name, std::string bug, const Plan& plan,
                      const std::vector<CheckOf<Op>>& checks) {
  return {.name = name,
          .bug = std::move(bug),
          .healthy = false,
          .subject = Subject::arguments,
          .make = [name, plan, checks] {
            return std::make_unique<CheckedKernel<Op, Kernel>>(name, plan, checks);
          }};
}

}  // namespace assay::mutants
