#pragma once

#include "assay/optimized/nsa_selected_attention_grad/demand.hpp"
#include "assay/optimized/schedules/selected.hpp"

namespace assay::optimized {

/// Returns the properties of a problem that determine its modelled time, for lists that select
/// every block equally often.
inline schedules::Selection selection_of(const spec::SelectionProblem& p,
                                         schedules::Direction direction) {
  return {.heads_kv = p.heads_kv,
          .group = p.group(),
          .queries = topk_extents(p).rows() / p.heads_kv,
          .keys = key_extents(p).rows() / p.heads_kv,
          .block = p.selected_block_size,
          .count = p.selected_block_count,
          .head_dim = p.head_dim,
          .head_dim_v = p.head_dim_v,
          .element = {spec::size_of(p.dtype)},
          .demand = selected::even_demand(p),
          .direction = direction};
}

}  // namespace assay::optimized
