#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "assay/spec/implementation.hpp"

namespace assay::mutants {

/// What kernels of every operator have: a name, the plan that they follow, and the one that they
/// declare.
template <class Op, class Plan>
class PlannedKernel : public spec::Implementation<Op> {
 public:
  PlannedKernel(std::string name, const Plan& plan) : PlannedKernel(std::move(name), plan, plan) {}
  /// Follows `plan` and declares `declared`.
  PlannedKernel(std::string name, const Plan& plan, const Plan& declared)
      : name_(std::move(name)), plan_(plan), declared_(declared) {}

  std::string name() const override { return name_; }
  bool checks_arguments() const override { return false; }

 protected:
  const Plan& plan() const { return plan_; }
  const Plan& declared() const { return declared_; }

 private:
  std::string name_;
  Plan plan_, declared_;
};

}  // namespace assay::mutants
