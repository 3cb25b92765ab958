#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "assay/spec/implementation.hpp"

namespace assay::mutants {

/// Common base class of the kernels of every operator. Contains a name, the plan (choices of
/// roundings and order) that the kernel follows, and the plan that the kernel declares.
template <class Op, class Plan>
class PlannedKernel : public spec::Implementation<Op> {
 public:
  /// Makes a kernel without name and plan. The caller must call `follow` before it uses the kernel.
  PlannedKernel() = default;
  PlannedKernel(std::string name, const Plan& plan) : PlannedKernel(std::move(name), plan, plan) {}
  /// Makes a kernel that computes as in `plan`, but declares the numerics (roundings and summation)
  /// of the plan `declared`.
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
