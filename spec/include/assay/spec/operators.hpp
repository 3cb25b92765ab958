#pragma once

#include "assay/spec/operators/flash_attention_score_grad.hpp"
#include "assay/spec/operators/nsa_compress_grad.hpp"
#include "assay/spec/operators/nsa_selected_attention_grad.hpp"

namespace assay::spec {

template <class... Ops>
struct TypeList {};

/// The one list of operators.
using Operators = TypeList<FlashAttentionScoreGrad, NsaSelectedAttentionGrad, NsaCompressGrad>;

}  // namespace assay::spec
