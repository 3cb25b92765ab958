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

/// Whether a kernel passes a call.
template <class Op>
using Passes = bool (*)(const spec::Call<Op>& call);

/// How a kernel checks its arguments: by the table of requirements, but for what is said here.
template <class Op>
struct Checks {
  std::string left_out = {};  ///< id of the requirement that is not checked
  bool are_strict = false;    ///< what is open or disputed is refused, too
  spec::Status for_null = spec::Status::param_nullptr;
  std::string looked_at_otherwise = {};  ///< id of the requirement that is asked in another way:
  Passes<Op> otherwise = nullptr;
  std::string beyond = {};  ///< what is demanded of calls that the table allows:
  Passes<Op> passes_beyond = nullptr;
};

/// A kernel whose phase 1 makes these checks.
template <class Op, class Kernel>
class CheckedKernel : public Kernel {
 public:
  template <class Plan>
  CheckedKernel(std::string name, const Plan& plan, Checks<Op> checks)
      : Kernel(std::move(name), plan), checks_(std::move(checks)) {}

  bool checks_arguments() const override { return true; }
  void check(const spec::Call<Op>& call) const override {
    for (const spec::Requirement<Op>& one : Op::requirements())
      if (is_checked(one, call) && !passes(one, call))
        refuse(one.id, one.statement, status_of(one));
    if (checks_.passes_beyond != nullptr && !checks_.passes_beyond(call))
      refuse("beyond the documents", checks_.beyond, spec::Status::param_invalid);
  }

 private:
  bool is_checked(const spec::Requirement<Op>& one, const spec::Call<Op>& call) const {
    return one.id != checks_.left_out && (checks_.are_strict || one.binds(call.entry_point, {}));
  }
  bool passes(const spec::Requirement<Op>& one, const spec::Call<Op>& call) const {
    return one.id == checks_.looked_at_otherwise ? checks_.otherwise(call) : one.holds(call);
  }
  spec::Status status_of(const spec::Requirement<Op>& one) const {
    if (one.status.any) return spec::Status::param_invalid;
    return one.status.code == spec::Status::param_nullptr ? checks_.for_null : one.status.code;
  }
  [[noreturn]] static void refuse(std::string_view id, std::string_view demand,
                                  spec::Status status) {
    throw spec::Rejected(status, std::string(id) + ": " + std::string(demand));
  }

  Checks<Op> checks_;
};

/// A kernel whose phase 1 passes every call.
template <class Op, class Kernel>
class UncheckedKernel : public Kernel {
 public:
  using Kernel::Kernel;
  bool checks_arguments() const override { return true; }
  void check(const spec::Call<Op>&) const override {}
};

/// A kernel that follows `plan` and checks its arguments so: `bug` says what is wrong with it.
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

/// The requirements that a kernel has to check, and which some call breaks alone.
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

/// Kernels that check all but one requirement, each another one; one that answers 161002 for a null
/// pointer; and one that checks nothing. Their names begin with `prefix`, but for those of one.
template <class Kernel, class Op, class Plan>
std::vector<MutantOf<Op>> careless(const std::string& prefix, const Plan& plan) {
  std::vector<MutantOf<Op>> all;
  for (const spec::Requirement<Op>* one : checked_requirements<Op>()) {
    const std::string id(one->id);
    all.push_back(checking<Kernel, Op>(
        "without_" + id, "does not check: " + std::string(one->statement), plan, {.left_out = id}));
  }
  all.push_back(checking<Kernel, Op>(prefix + "null_is_invalid",
                                     "answers 161002 for a null pointer", plan,
                                     {.for_null = spec::Status::param_invalid}));
  all.push_back(MutantOf<Op>{.name = prefix + "no_checks",
                             .bug = "accepts every call",
                             .healthy = false,
                             .subject = Subject::arguments,
                             .make = [name = prefix + "no_checks", plan] {
                               return std::make_unique<UncheckedKernel<Op, Kernel>>(name, plan);
                             }});
  return all;
}

}  // namespace assay::mutants
