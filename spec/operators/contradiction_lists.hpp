#pragma once

#include <vector>

#include "assay/spec/contradiction.hpp"

/// The lists of contradictions. Each list is sorted by id.
namespace assay::spec::detail {

/// Ids that begin with FAG-Q belong to FlashAttentionScoreGrad, ids that begin with CV-O to open
/// points of all its entry points.
std::vector<Contradiction> flash_contradictions();
std::vector<Contradiction> flash_open_points();
/// FAS-Q: FlashAttentionScore.
std::vector<Contradiction> forward_contradictions();
/// Ids that begin with NSAS-Q belong to NsaSelectedAttentionGrad, NSAC-Q to NsaCompressGrad, NSCF-Q
/// to NsaCompress and NSSF-Q to NsaSelectedAttention. NSAS-U: statements about the operators of NSA
/// that nobody verified on a device.
std::vector<Contradiction> selected_contradictions();
std::vector<Contradiction> nsa_open_points();
std::vector<Contradiction> compress_contradictions();
std::vector<Contradiction> nsa_compress_contradictions();
std::vector<Contradiction> nsa_selected_attention_contradictions();
/// SFAG-Q: SparseFlashAttentionGrad.
std::vector<Contradiction> sparse_flash_contradictions();

}  // namespace assay::spec::detail
