#pragma once

#include <cstdint>
#include <vector>

#include "assay/conformance/operators/nsa_selected_attention_grad.hpp"
#include "assay/reference/nsa_selected_attention_grad.hpp"
#include "attention/relations/trial.hpp"

/// Problems with their numbers in plain rows, which relations between runs rearrange.
namespace assay::conformance::selected {

using Op = spec::NsaSelectedAttentionGrad;
using flash::Gradients;
using flash::Origin;

/// One run: a problem and what it is given. Rows lie in the order of Extents::row; numbers are
/// values of their type.
struct Trial {
  Op::Problem problem;
  reference::SelectedOperands<double> rows;
  spec::Striding inputs = spec::Striding::contiguous, outputs = spec::Striding::contiguous;
};

/// The case's problem with the given tensors.
Trial trial_of(const Op::Problem& problem, const Op::Inputs& inputs);

/// The tensors of a trial, strided as it says.
Op::Inputs inputs_of(const Trial& trial);

/// Whether two trials ask a kernel for the very same thing.
bool is_same_run(const Trial& a, const Trial& b);

/// Values of the outputs.
Gradients gradients_of(const Op::Problem& problem, const Op::Outputs& outputs);

/// The trial of `problem` whose query and key rows are those of `base` at other places; a query of
/// a key head takes its list along, of which it lists what `base` lists. Heads of a group share the
/// list of the first.
Trial rearranged(const Trial& base, const Op::Problem& problem, const Origin& query,
                 const Origin& key);

}  // namespace assay::conformance::selected
