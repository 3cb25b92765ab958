#pragma once

#include <string>
#include <utility>
#include <vector>

#include "assay/mutants/specimen.hpp"
#include "nsa_compress_grad/kernel.hpp"
#include "planting.hpp"

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
  return planted_in<Op, Bug>(name, std::move(bug), plan);
}

}  // namespace assay::mutants::compress
