#include "selection/relations/rearranging.hpp"

#include "operators/nsa_selected_attention_grad/relations/relations.hpp"

namespace assay::conformance::selected {

using namespace selection;

std::span<const Relation> rearranging_relations() {
  static constexpr Relation relations[] = {
      {"permute_queries",
       "Permuting queries and their lists permutes dq in the same way and does not change dk "
       "and dv.",
       Agreement::bound, is_unmasked, "no mask", permute_queries<Op>},
      {"permute_heads",
       "Permuting query heads of a group permutes dq in the same way and does not change dk and "
       "dv.",
       Agreement::bound, is_grouped, "several query heads for each key head", permute_heads<Op>},
      {"split_heads", "Each key head has the same gradients if it is computed alone.",
       Agreement::bits, has_several_key_heads, "several key heads", attention::split_heads<Op>},
      {"repeat_heads",
       "If every key head and its lists are repeated for each query head of the group, the sums of "
       "dk and dv over the repeated heads are the original dk and dv.",
       Agreement::bound, is_grouped, "several query heads for each key head",
       attention::repeat_heads<Op>},
      {"sequences_alone", "A sequence has the same gradients if it is computed alone.",
       Agreement::bound, has_several_sequences, "several sequences", sequences_alone<Op>},
      {"strided", "The strides of inputs and outputs do not change the results.", Agreement::bits,
       is_anything, "everything", view<Op>}};
  return relations;
}

}  // namespace assay::conformance::selected
