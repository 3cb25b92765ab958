#pragma once

#include <rapidcheck.h>

#include <string>
#include <vector>

#include "assay/spec/operators/flash_attention_score_grad.hpp"

namespace assay::spec {

/// A description from which a legal call is made: problem, entry point, product, and strides.
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

/// Makes random legal problems. Together they have every feature of the entry point: layouts,
/// types, grouped heads, masks of every shape, windows, Dv < D, sequences of unequal lengths, bias,
/// dropout, prefixes, rope.
rc::Gen<FlashAttentionScoreGrad::Problem> legal_problem(FlashEntryPoint entry_point);
rc::Gen<Asked> legal_call();

/// Returns a few hand-written legal calls of an entry point. They contain every layout, mask, bias
/// and dropout that it accepts, with equal and with unequal lengths.
std::vector<Asked> plain_calls(FlashEntryPoint entry_point);
/// Returns the hand-written legal calls of all entry points.
std::vector<Asked> plain_calls();

}  // namespace assay::spec
