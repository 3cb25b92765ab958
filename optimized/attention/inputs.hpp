#pragma once

#include <optional>

#include "assay/spec/tensor.hpp"

namespace assay::optimized {

/// References to the inputs that a forward and its gradient both have. Constructed from the inputs
/// of either operator.
struct AttentionInputs {
  template <class Inputs>
  AttentionInputs(const Inputs& of)  // NOLINT(google-explicit-constructor)
      : query(of.query),
        key(of.key),
        value(of.value),
        atten_mask(of.atten_mask),
        pse_shift(of.pse_shift),
        drop_mask(of.drop_mask),
        query_rope(of.query_rope),
        key_rope(of.key_rope) {}

  const spec::Tensor &query, &key, &value;
  const std::optional<spec::Tensor>&atten_mask, &pse_shift, &drop_mask, &query_rope, &key_rope;
};

/// The tensors that a forward fills.
struct ForwardResults {
  spec::Tensor &softmax_max, &softmax_sum, &attention_out;
};

}  // namespace assay::optimized
