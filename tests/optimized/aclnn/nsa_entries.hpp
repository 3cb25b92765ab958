#pragma once

#include "assay/spec/operators/nsa_compress.hpp"
#include "assay/spec/operators/nsa_compress_grad.hpp"
#include "assay/spec/operators/nsa_selected_attention.hpp"
#include "assay/spec/operators/nsa_selected_attention_grad.hpp"
#include "trial.hpp"

namespace assay::test {

/// Calls the entry point with handles of the call's parameters.
Prepared phase_1(const spec::Call<spec::NsaSelectedAttentionGrad>& call, Handles& handles);
Prepared phase_1(const spec::Call<spec::NsaSelectedAttention>& call, Handles& handles);
Prepared phase_1(const spec::Call<spec::NsaCompressGrad>& call, Handles& handles);
Prepared phase_1(const spec::Call<spec::NsaCompress>& call, Handles& handles);
/// The second phase of the entry point, which starts the kernel.
Phase2 phase_2_of(spec::SelectedEntryPoint entry_point);
Phase2 phase_2_of(spec::SelectedForwardEntryPoint entry_point);
Phase2 phase_2_of(spec::CompressEntryPoint entry_point);
Phase2 phase_2_of(spec::NsaCompressEntryPoint entry_point);

}  // namespace assay::test
