#pragma once

#include <vector>

#include "assay/spec/contradiction.hpp"

/// The lists of contradictions. Each list is sorted by id.
namespace assay::spec::detail {

/// Ids. FAG-Q: FlashAttentionScoreGrad. CV-O: open points of all its entry points.
std::vector<Contradiction> flash_contradictions();
std::vector<Contradiction> flash_open_points();
/// FAS-Q: FlashAttentionScore.
std::vector<Contradiction> forward_contradictions();
/// Prefixes of the ids. NSAS-Q: NsaSelectedAttentionGrad. NSAS-U: statements about both NSA
/// operators that nobody verified on a device. NSAC-Q: NsaCompressGrad. NSCF-Q: NsaCompress.
/// NSSF-Q: NsaSelectedAttention.
std::vector<Contradiction> selected_contradictions();
std::vector<Contradiction> nsa_open_points();
std::vector<Contradiction> compress_contradictions();
std::vector<Contradiction> nsa_compress_contradictions();
std::vector<Contradiction> nsa_selected_attention_contradictions();
/// SFAG-Q: SparseFlashAttentionGrad.
std::vector<Contradiction> sparse_flash_contradictions();

}  // namespace assay::spec::detail
