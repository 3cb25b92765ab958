#pragma once

#include <optional>

#include "assay/spec/tensor.hpp"

namespace assay::optimized {

/// References to the inputs that the forward and its gradient have in common. Constructed from the
/// inputs of either operator.
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
        key_rope(of.key_rope),
        sink(sink_of(of)) {}

  const spec::Tensor &query, &key, &value;
  const std::optional<spec::Tensor>&atten_mask, &pse_shift, &drop_mask, &query_rope, &key_rope;
  const std::optional<spec::Tensor>& sink;  ///< one logit per query head

 private:
  static inline const std::optional<spec::Tensor> absent = std::nullopt;

  template <class Inputs>
  static const std::optional<spec::Tensor>& sink_of(const Inputs& of) {
    if constexpr (requires { of.sink; })
      return of.sink;
    else
      return absent;
  }
};

/// The tensors that a forward fills.
struct ForwardResults {
  spec::Tensor &softmax_max, &softmax_sum, &attention_out;
};

}  // namespace assay::optimized
