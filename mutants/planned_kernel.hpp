#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "assay/spec/implementation.hpp"

namespace assay::mutants {

/// Common base of the kernels of every operator. It has a name, the plan that the kernel follows,
/// and the plan that it declares.
template <class Op, class Plan>
class PlannedKernel : public spec::Implementation<Op> {
 public:
  /// The caller must call `follow` before it uses the kernel.
  PlannedKernel() = default;
  PlannedKernel(std::string name, const Plan& plan) : PlannedKernel(std::move(name), plan, plan) {}
  /// A kernel that follows `plan` but declares the numerics of `declared`.
  PlannedKernel(std::string name, const Plan& plan, const Plan& declared)
      : name_(std::move(name)), plan_(plan), declared_(declared) {}

  /// Gives the kernel its name and plans, so that the class of a mutant needs no constructor.
  void follow(std::string name, const Plan& plan, const Plan& declared) {
    name_ = std::move(name), plan_ = plan, declared_ = declared;
  }

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
