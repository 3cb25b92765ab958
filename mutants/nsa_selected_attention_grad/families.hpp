#pragma once

#include <string>
#include <vector>

#include "nsa_selected_attention_grad/kernel.hpp"
#include "planting.hpp"
#include "selection/faults.hpp"

namespace assay::mutants::selected {

using Mutant = MutantOf<Op>;

std::vector<Mutant> healthy_kernels();
std::vector<Mutant> list_mutants();
std::vector<Mutant> mask_mutants();
std::vector<Mutant> row_mutants();
std::vector<Mutant> output_mutants();
/// Mutants with faults that users of such kernels reported in public.
std::vector<Mutant> public_faults();
std::vector<Mutant> stride_mutants();
std::vector<Mutant> argument_mutants();

template <class Bug>
Mutant planted(const std::string& name, std::string bug, const Plan& plan = flash_like) {
  return planted_in<Op, Bug>(name, std::move(bug), plan);
}

/// Returns the name of a fault of selection/faults.hpp; mutants of other operators have some of
/// these names.
inline std::string name_of_shared(const std::string& name) {
  for (const char* own : {"mask_ignored", "mask_bottom_right", "scale_from_head_dim",
                          "value_strides_of_key", "key_strides_of_query", "key_bytes_in_32_bits"})
    if (name == own) return "selected_" + name;
  return name == "heads_interleaved" ? "selected_kv_head_modulo" : name;
}

}  // namespace assay::mutants::selected
