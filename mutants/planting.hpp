#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "assay/mutants/mutant.hpp"

namespace assay::mutants {

/// Returns a mutant of class Bug that follows `plan` and declares the numerics of `plan`.
template <class Op, class Bug, class Plan>
MutantOf<Op> planted_in(const std::string& name, std::string bug, const Plan& plan) {
  return {.name = name,
          .bug = std::move(bug),
          .healthy = false,
          .subject = Subject::numbers,
          .make = [name, plan] { return std::make_unique<Bug>(name, plan); }};
}

/// Returns a mutant that follows `plan` but declares the numerics of `declared`.
template <class Op, class Kernel, class Plan>
MutantOf<Op> misdeclared_in(const std::string& name, std::string bug, const Plan& plan,
                            const Plan& declared) {
  return {
      .name = name,
      .bug = std::move(bug),
      .healthy = false,
      .subject = Subject::numbers,
      .make = [name, plan, declared] { return std::make_unique<Kernel>(name, plan, declared); }};
}

/// Returns a correct kernel of class Variant with an unusual choice.
template <class Op, class Kernel, class Plan>
MutantOf<Op> healthy_in(const std::string& name, std::string choice, const Plan& plan) {
  return {.name = name,
          .bug = std::move(choice),
          .healthy = true,
          .subject = Subject::numbers,
          .make = [name, plan] { return std::make_unique<Kernel>(name, plan); }};
}

/// A kernel whose run ends in an exception.
template <class Op, class Kernel>
struct Crashes : Kernel {
  using Kernel::Kernel;
  void run(const typename Op::Problem&, const typename Op::Inputs&,
           typename Op::Outputs&) override {
    throw std::runtime_error("aicore error: timeout or trap error");
  }
};

}  // namespace assay::mutants
