#pragma once

#include <rapidcheck.h>

#include <string>
#include <vector>

#include "assay/spec/operators/flash_attention_score_grad.hpp"

namespace assay::spec {

/// A legal call, and the choices from which it is made: problem, entry point, product, strides.
struct Asked {
  FlashAttentionScoreGrad::Problem problem;
  FlashEntryPoint entry_point = FlashEntryPoint::g1;
  Product product = Product::a2;
  Striding inputs = Striding::contiguous, outputs = Striding::contiguous;

  Call<FlashAttentionScoreGrad> call() const {
    return call_of(problem, entry_point, product, inputs, outputs);
  }
};

void showValue(const Asked& asked, std::ostream& out);

/// Random legal problems. Together they have every feature of the entry point: layouts, types,
/// grouped heads, masks of every shape, windows, narrow values, sequences of unequal lengths, bias,
/// dropout, prefixes, rope.
rc::Gen<FlashAttentionScoreGrad::Problem> legal_problem(FlashEntryPoint entry_point);
rc::Gen<Asked> legal_call();

/// A few hand-made legal calls of an entry point. They contain every layout, mask, bias and dropout
/// that it accepts, with equal and with unequal lengths.
std::vector<Asked> plain_calls(FlashEntryPoint entry_point);
/// The plain calls of all entry points.
std::vector<Asked> plain_calls();

}  // namespace assay::spec
