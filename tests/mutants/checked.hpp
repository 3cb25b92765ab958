#pragma once

#include <string>
#include <utility>
#include <vector>

#include "assay/mutants/specimen.hpp"
#include "assay/spec/call.hpp"
#include "assay/spec/status.hpp"

namespace assay::mutants {

/// One check of phase 1: the row that asks for it, what a refusal answers, and whether a call
/// passes.
template <class Op>
struct CheckOf {
  std::string row;
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

  void check(const spec::Call<Op>& call) const override {
    for (const CheckOf<Op>& one : checks_)
      if (!one.holds(call)) throw spec::Rejected(one.status, one.row + ": " + one.demand);
  }

 private:
  std::vector<CheckOf<Op>> checks_;
};

/// `checks` but those of a row.
template <class Op>
std::vector<CheckOf<Op>> without(std::vector<CheckOf<Op>> checks, const std::string& row) {
  std::erase_if(checks, [&](const CheckOf<Op>& check) { return check.row == row; });
  return checks;
}

/// What the check of a row demands.
template <class Op>
std::string demand_of(const std::vector<CheckOf<Op>>& checks, const std::string& row) {
  for (const CheckOf<Op>& check : checks)
    if (check.row == row) return check.demand;
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

}  // namespace assay::mutants
