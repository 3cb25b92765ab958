#pragma once

#include <memory>
#include <string>
#include <utility>

#include "assay/mutants/mutant.hpp"

namespace assay::mutants {

/// A kernel of class Bug that follows `plan` and declares it.
template <class Op, class Bug, class Plan>
MutantOf<Op> planted_in(const std::string& name, std::string bug, const Plan& plan) {
  return {.name = name,
          .bug = std::move(bug),
          .healthy = false,
          .subject = Subject::numbers,
          .make = [name, plan] { return std::make_unique<Bug>(name, plan); }};
}

/// A kernel that follows `plan` but declares `declared`.
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

/// A conforming kernel that makes a choice of its own.
template <class Op, class Kernel, class Plan>
MutantOf<Op> healthy_in(const std::string& name, std::string choice, const Plan& plan) {
  return {.name = name,
          .bug = std::move(choice),
          .healthy = true,
          .subject = Subject::numbers,
          .make = [name, plan] { return std::make_unique<Kernel>(name, plan); }};
}

}  // namespace assay::mutants
