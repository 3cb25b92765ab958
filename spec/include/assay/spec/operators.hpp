#pragma once

// The only list of operators: first the headers, then the types. CMake reads the names of these
// headers and uses the folders with the same names.
#include "assay/spec/operators/flash_attention_score.hpp"
#include "assay/spec/operators/flash_attention_score_grad.hpp"
#include "assay/spec/operators/nsa_compress.hpp"
#include "assay/spec/operators/nsa_compress_grad.hpp"
#include "assay/spec/operators/nsa_selected_attention.hpp"
#include "assay/spec/operators/nsa_selected_attention_grad.hpp"
#include "assay/spec/operators/sparse_flash_attention_grad.hpp"

namespace assay::spec {

template <class... Ops>
struct TypeList {};

using Operators =
    TypeList<FlashAttentionScoreGrad, NsaSelectedAttentionGrad, NsaCompressGrad, NsaCompress,
             NsaSelectedAttention, FlashAttentionScore, SparseFlashAttentionGrad>;

namespace detail {
template <class Visitor, class... Ops>
void for_each_operator(Visitor& visit, TypeList<Ops...>) {
  (visit.template operator()<Ops>(), ...);
}
}  // namespace detail

/// Calls `visit.template operator()<Op>()` for every operator, in the order of the list.
template <class Visitor>
void for_each_operator(Visitor&& visit) {
  detail::for_each_operator(visit, Operators{});
}

}  // namespace assay::spec
