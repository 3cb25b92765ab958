#include "operators/nsa_selected_attention_grad/relations/relations.hpp"

namespace assay::conformance::selected {
namespace {

using spec::RowPosition;

/// Reverses the order of the queries of every sequence, and of their lists.
Experiment permute_queries(const Trial& base) {
  const Origin query = [p = base.problem](const RowPosition& row) {
    return RowPosition{row.b, row.n, p.length_q(row.b) - 1 - row.s};
  };
  return rearranging(base, {{base.problem, {query, same_row}}});
}

/// Reverses the order of the query heads of every group.
Experiment permute_heads(const Trial& base) {
  const Origin query = [group = base.problem.group()](const RowPosition& row) {
    return RowPosition{row.b, row.n / group * group + group - 1 - row.n % group, row.s};
  };
  return rearranging(base, {{base.problem, {query, same_row}}});
}

Experiment sequences_alone(const Trial& base) {
  std::vector<Piece> pieces;
  for (std::int64_t b = 0; b < base.problem.batch; ++b) {
    Op::Problem alone = base.problem;
    alone.batch = 1;
    alone.seq_q = base.problem.length_q(b), alone.seq_kv = base.problem.length_kv(b);
    alone.lengths_q.clear(), alone.lengths_kv.clear();
    const Origin origin = [b](const RowPosition& row) { return RowPosition{b, row.n, row.s}; };
    pieces.push_back({alone, {origin, origin}});
  }
  return rearranging(base, std::move(pieces));
}

Experiment view(const Trial& base) {
  return strided(base, spec::Striding::transposed, spec::Striding::padded);
}

bool has_several_key_heads(const Op::Problem& p) { return p.heads_kv > 1; }
bool has_several_sequences(const Op::Problem& p) { return p.batch > 1; }
bool is_grouped(const Op::Problem& p) { return p.group() > 1; }

}  // namespace

std::span<const Relation> rearranging_relations() {
  static constexpr Relation relations[] = {
      {"permute_queries",
       "Permuting queries and their lists permutes dq in the same way and does not change dk "
       "and dv.",
       Agreement::bound, is_unmasked, "no mask", permute_queries},
      {"permute_heads",
       "Permuting query heads of a group permutes dq in the same way and does not change dk and "
       "dv.",
       Agreement::bound, is_grouped, "several query heads for each key head", permute_heads},
      {"split_heads", "Key heads computed alone have the same gradients as together.",
       Agreement::bits, has_several_key_heads, "several key heads", attention::split_heads<Op>},
      {"repeat_heads",
       "Key heads and lists repeated for every query head share dk and dv of the group.",
       Agreement::bound, is_grouped, "several query heads for each key head",
       attention::repeat_heads<Op>},
      {"sequences_alone", "A sequence computed alone has the same gradients as among others.",
       Agreement::bound, has_several_sequences, "several sequences", sequences_alone},
      {"strided", "Strides of inputs and outputs change no bit.", Agreement::bits, is_anything,
       "everything", view}};
  return relations;
}

}  // namespace assay::conformance::selected
