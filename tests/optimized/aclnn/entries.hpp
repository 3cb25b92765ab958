#pragma once

#include "assay/spec/operators.hpp"
#include "trial.hpp"

namespace assay::test {

/// Creates handles for the parameters of `call`, and calls phase 1 (argument check) of its entry
/// point with them.
template <class Op>
Prepared phase_1(const spec::Call<Op>& call, Handles& handles);

/// Returns the second phase of an entry point (the function that starts the kernel), and the name
/// of the first phase.
Phase2 phase_2_of(spec::FlashForwardEntryPoint entry_point);
Phase2 phase_2_of(spec::FlashEntryPoint entry_point);
Phase2 phase_2_of(spec::NsaCompressEntryPoint entry_point);
Phase2 phase_2_of(spec::CompressEntryPoint entry_point);
Phase2 phase_2_of(spec::SelectedForwardEntryPoint entry_point);
Phase2 phase_2_of(spec::SelectedEntryPoint entry_point);
Phase2 phase_2_of(spec::SparseFlashEntryPoint entry_point);
std::string phase_1_name(spec::FlashForwardEntryPoint entry_point);
std::string phase_1_name(spec::FlashEntryPoint entry_point);

}  // namespace assay::test
