#pragma once

#include "assay/conformance/attention/flash.hpp"
#include "assay/conformance/inputs/random.hpp"
#include "attention/profiles.hpp"

namespace assay::conformance::attention::flash {

/// Creates a tensor and fills it with random values. The input profile of the case defines their
/// distribution.
template <class Op>
spec::Tensor filled(const spec::Parameter& parameter, const Case<Op>& c,
                    const spec::Extents& extents, Stream which) {
  return filled_tensor(parameter, c.problem.input_layout, extents,
                       {.seed = c.seed, .which = which, .value = profile_value(c.profile)});
}

/// Fills the inputs that the forward pass reads.
template <class Op>
void fill_inputs(const Case<Op>& c, const typename Op::Parameters& t, typename Op::Inputs& inputs) {
  const auto& p = c.problem;
  inputs.query = filled(t.query, c, query_extents(p), Stream::query);
  inputs.key = filled(t.key, c, key_extents(p), Stream::key);
  inputs.value = filled(t.value, c, value_extents(p), Stream::value);
  inputs.atten_mask = make_mask(c);
  inputs.pse_shift = make_pse(c);
  inputs.drop_mask = make_drop_mask(c);
  if (p.head_dim_rope == 0) return;
  inputs.query_rope = filled(t.query_rope, c, query_rope_extents(p), Stream::query_rope);
  inputs.key_rope = filled(t.key_rope, c, key_rope_extents(p), Stream::key_rope);
}

}  // namespace assay::conformance::attention::flash
