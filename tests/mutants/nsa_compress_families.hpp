#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "assay/mutants/specimen.hpp"
#include "nsa_compress_kernel.hpp"

namespace assay::mutants::compress {

using Specimen = SpecimenOf<Op>;

std::vector<Specimen> healthy_kernels();
std::vector<Specimen> window_mutants();
std::vector<Specimen> sum_mutants();
std::vector<Specimen> output_mutants();
std::vector<Specimen> argument_specimens();

/// A kernel of class Bug that follows `plan` and declares it.
template <class Bug>
Specimen planted(const std::string& name, std::string bug, const Plan& plan = device_like) {
  return {.name = name,
          .bug = std::move(bug),
          .healthy = false,
          .subject = Subject::numbers,
          .make = [name, plan] { return std::make_unique<Bug>(name, plan); }};
}

/// A kernel that follows `plan` but declares `declared`.
inline Specimen misdeclared(const std::string& name, std::string bug, const Plan& plan,
                            const Plan& declared) {
  return {
      .name = name,
      .bug = std::move(bug),
      .healthy = false,
      .subject = Subject::numbers,
      .make = [name, plan, declared] { return std::make_unique<Kernel>(name, plan, declared); }};
}

}  // namespace assay::mutants::compress
