#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "assay/mutants/mutant.hpp"

namespace assay::mutants {

/// Returns a mutant of class Kernel that computes as in `plan`, but declares the numerics
/// (roundings and summation) of the plan `declared`.
template <class Op, class Kernel, class Plan>
MutantOf<Op> misdeclared_in(const std::string& name, std::string bug, const Plan& plan,
                            const Plan& declared) {
  return {.name = name,
          .bug = std::move(bug),
          .healthy = false,
          .subject = Subject::numbers,
          .make = [name, plan, declared] {
            auto kernel = std::make_unique<Kernel>();
            kernel->follow(name, plan, declared);
            return kernel;
          }};
}

/// Returns a mutant of class Bug that follows `plan` and declares the numerics (roundings and
/// summation) of `plan`.
template <class Op, class Bug, class Plan>
MutantOf<Op> injected_in(const std::string& name, std::string bug, const Plan& plan) {
  return misdeclared_in<Op, Bug>(name, std::move(bug), plan, plan);
}

/// Returns a correct kernel of class Kernel. `choice` describes its unusual but allowed choice.
template <class Op, class Kernel, class Plan>
MutantOf<Op> healthy_in(const std::string& name, std::string choice, const Plan& plan) {
  MutantOf<Op> mutant = misdeclared_in<Op, Kernel>(name, std::move(choice), plan, plan);
  mutant.healthy = true;
  return mutant;
}

/// Fault: the run of the kernel ends in an exception.
template <class Op, class Kernel>
struct Crashes : Kernel {
  void run(const typename Op::Problem&, const typename Op::Inputs&,
           typename Op::Outputs&) override {
    throw std::runtime_error("aicore error: timeout or trap error");
  }
};

}  // namespace assay::mutants
