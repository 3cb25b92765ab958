#pragma once

#include "assay/spec/operators/flash_attention_score.hpp"
#include "assay/spec/operators/flash_attention_score_grad.hpp"
#include "trial.hpp"

namespace assay::test {

/// Calls phase 1 of the entry point of `call` with handles of its parameters.
Prepared phase_1(const spec::Call<spec::FlashAttentionScoreGrad>& call, Handles& handles);
Prepared phase_1(const spec::Call<spec::FlashAttentionScore>& call, Handles& handles);

/// The second phase of an entry point, and the name of its first phase.
Phase2 phase_2_of(spec::FlashEntryPoint entry_point);
Phase2 phase_2_of(spec::FlashForwardEntryPoint entry_point);
std::string phase_1_name(spec::FlashEntryPoint entry_point);
std::string phase_1_name(spec::FlashForwardEntryPoint entry_point);

}  // namespace assay::test
