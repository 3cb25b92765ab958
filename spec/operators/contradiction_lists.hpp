#pragma once

#include <vector>

#include "assay/spec/contradiction.hpp"

/// Lists of contradictions in the documentation. Each list is sorted by id.
namespace assay::spec::detail {

/// The ids FAG-Q* belong to FlashAttentionScoreGrad; the ids CV-O* belong to open questions about
/// all its entry points.
std::vector<Contradiction> flash_contradictions();
std::vector<Contradiction> flash_open_points();
/// FAS-Q: FlashAttentionScore.
std::vector<Contradiction> forward_contradictions();
/// The ids NSAS-Q* belong to NsaSelectedAttentionGrad, NSAC-Q* to NsaCompressGrad, NSCF-Q* to
/// NsaCompress and NSSF-Q* to NsaSelectedAttention. The ids NSAS-U* are statements about these
/// operators that nobody verified on a device.
std::vector<Contradiction> selected_contradictions();
std::vector<Contradiction> nsa_open_points();
std::vector<Contradiction> compress_contradictions();
std::vector<Contradiction> nsa_compress_contradictions();
std::vector<Contradiction> nsa_selected_attention_contradictions();
/// SFAG-Q: SparseFlashAttentionGrad.
std::vector<Contradiction> sparse_flash_contradictions();

}  // namespace assay::spec::detail
