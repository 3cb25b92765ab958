#pragma once

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "assay/mutants/mutant.hpp"
#include "flash_attention_score_grad/kernel/kernel.hpp"
#include "injecting.hpp"

namespace assay::mutants {

std::vector<Mutant> healthy_kernels();
std::vector<Mutant> healthy_statistics_orders();
std::vector<Mutant> mask_mutants();
std::vector<Mutant> head_and_scale_mutants();
std::vector<Mutant> row_mutants();
std::vector<Mutant> tile_mutants();
std::vector<Mutant> rounding_mutants();
std::vector<Mutant> tensor_mutants();
std::vector<Mutant> stride_mutants();
std::vector<Mutant> output_mutants();
std::vector<Mutant> sequence_mutants();
std::vector<Mutant> statistics_order_mutants();
std::vector<Mutant> sparse_mutants();
std::vector<Mutant> dropout_mutants();
std::vector<Mutant> pse_mutants();
std::vector<Mutant> rope_mutants();
std::vector<Mutant> healthy_sinks();
std::vector<Mutant> sink_mutants();
std::vector<Mutant> forward_mutants();
std::vector<Mutant> conduct_mutants();
/// Returns mutants (kernels with a fault) with faults that users of attention kernels reported
/// publicly.
std::vector<Mutant> public_faults();
std::vector<Mutant> argument_mutants();

/// True if Bug (a kernel with a fault) overrides a step that the forward uses. Mutants are structs,
/// so an override is public. A step that Bug does not override is a protected member of Kernel.
/// This concept has no access to it, so the result is then false.
template <class Bug>
concept ChangesForward = requires {
  &Bug::load;
}
|| requires { &Bug::read; }
|| requires { &Bug::statistics_element; }
|| requires { &Bug::keys; }
|| requires { &Bug::kv_head; }
|| requires { &Bug::key_position; }
|| requires { &Bug::keeps; }
|| requires { &Bug::sparse_mode; }
|| requires { &Bug::band_batch; }
|| requires { &Bug::corner; }
|| requires { &Bug::prefix; }
|| requires { &Bug::excluded; }
|| requires { &Bug::pse_type; }
|| requires { &Bug::pse_element; }
|| requires { &Bug::compressed_pse_element; }
|| requires { &Bug::start_shift; }
|| requires { &Bug::distance; }
|| requires { &Bug::bias; }
|| requires { &Bug::drop_bit; }
|| requires { &Bug::bit_is_set; }
|| requires { &Bug::inverse_keep_prob; }
|| requires { &Bug::drop_factor; }
|| requires { &Bug::scale; }
|| requires { &Bug::product; }
|| requires { &Bug::rope_product; }
|| requires { &Bug::score; }
|| requires { &Bug::probability; }
|| requires { &Bug::dropped; }
|| requires { &Bug::stage; }
|| requires { &Bug::forward_statistics; }
|| requires { &Bug::output_weight; }
|| requires { &Bug::value_row; }
|| requires { &Bug::written_replicas; }
|| requires { &Bug::cast; };

/// Returns a mutant of class Bug that follows `plan` and declares the numerics (roundings and
/// summation) of `plan`.
template <class Bug>
Mutant injected(const std::string& name, std::string bug, const Plan& plan = flash_like) {
  Mutant mutant = injected_in<Op, Bug>(name, std::move(bug), plan);
  mutant.changes_forward = ChangesForward<Bug>;
  return mutant;
}

/// Returns a mutant that computes as in `plan`, but declares the numerics (roundings and summation)
/// of the plan `declared`.
inline Mutant misdeclared(const std::string& name, std::string bug, const Plan& plan,
                          const Plan& declared) {
  Mutant mutant = misdeclared_in<Op, Kernel>(name, std::move(bug), plan, declared);
  const auto choices_of_forward = [](const Plan& p) {
    return std::tuple(p.exponential, p.masked, p.staging, p.round_stage, p.round_out);
  };
  mutant.changes_forward = choices_of_forward(plan) != choices_of_forward(declared);
  return mutant;
}

}  // namespace assay::mutants
