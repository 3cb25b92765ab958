#include "operators/nsa_selected_attention_grad/relations/relations.hpp"

namespace assay::conformance::selected {
namespace {

using spec::RowPosition;

/// The queries of every sequence in the opposite order, their lists with them.
Experiment permute_queries(const Trial& base) {
  const Origin query = [p = base.problem](const RowPosition& row) {
    return RowPosition{row.b, row.n, p.length_q(row.b) - 1 - row.s};
  };
  return rearranging(base, {{base.problem, {query, same_row}}});
}

/// The query heads of every group in the opposite order.
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
       "Queries that change places, their lists with them, take dq with them and leave dk and dv "
       "alone.",
       Agreement::bound, is_unmasked, "no mask", permute_queries},
      {"permute_heads",
       "Query heads of a group that change places take dq with them and leave dk and dv alone.",
       Agreement::bound, is_grouped, "several query heads to a key head", permute_heads},
      {"split_heads", "Key heads on their own have the gradients that they have together.",
       Agreement::bits, has_several_key_heads, "several key heads", attention::split_heads<Op>},
      {"repeat_heads",
       "Key heads and lists repeated for every query head share dk and dv of the group.",
       Agreement::bound, is_grouped, "several query heads to a key head",
       attention::repeat_heads<Op>},
      {"sequences_alone", "A sequence on its own has the gradients that it has among others.",
       Agreement::bound, has_several_sequences, "several sequences", sequences_alone},
      {"strided", "Strides of inputs and outputs change no bit.", Agreement::bits, is_anything,
       "everything", view}};
  return relations;
}

}  // namespace assay::conformance::selected
