#include <algorithm>

#include "operators/flash_attention_score_grad_relation_problems.hpp"
#include "operators/flash_attention_score_grad_relations.hpp"

namespace assay::conformance::flash {
namespace {

using spec::DType;
using spec::MaskShape;
using spec::PseShape;
using spec::RowPosition;

/// A permutation without fixed rhythm: s -> (7 s + 3) mod extent, for extents that 7 does not divide, else s -> -1 - s.
std::int64_t permuted(std::int64_t s, std::int64_t extent) {
  return extent % 7 == 0 ? extent - 1 - s : (7 * s + 3) % extent;
}

/// Every output row of `problem` from where `query` and `key` say, out of `outputs` of the problem `own`.
Gradients moved(const Op::Problem& problem, const Op::Problem& own, const Gradients& outputs,
                const Origin& query, const Origin& key) {
  const auto rows = [](const std::vector<double>& values, const spec::Extents& from,
                       const spec::Extents& to, const Origin& origin) {
    return gather(values, from, to, origin);
  };
  Gradients g{.dq = rows(outputs.dq, query_extents(own), query_extents(problem), query),
              .dk = rows(outputs.dk, key_extents(own), key_extents(problem), key),
              .dv = rows(outputs.dv, value_extents(own), value_extents(problem), key),
              .dq_rope = {}, .dk_rope = {}};
  if (problem.head_dim_rope == 0) return g;
  g.dq_rope = rows(outputs.dq_rope, query_rope_extents(own), query_rope_extents(problem), query);
  g.dk_rope = rows(outputs.dk_rope, key_rope_extents(own), key_rope_extents(problem), key);
  return g;
}

std::vector<Op::Problem> freely_masked() {
  return {padded_problem(DType::bf16),
          with_mask(padded_problem(DType::fp32), 1, MaskShape::bnss),
          with_mask(with_dropout(padded_problem(DType::fp16), 0.5), 1, MaskShape::bnss),
          with_mask(with_pse(padded_problem(DType::fp32), 0, PseShape::bnss), 1, MaskShape::bnss),
          with_pse(padded_problem(DType::bf16), 1, PseShape::bnss)};
}

Experiment permute_keys(const Trial& base) {
  const Op::Problem p = base.problem;
  const Origin forth = [p](const RowPosition& row) {
    return RowPosition{row.b, row.n, permuted(row.s, p.seq_kv)};
  };
  std::vector<std::int64_t> inverse(static_cast<std::size_t>(p.seq_kv));
  for (std::int64_t s = 0; s < p.seq_kv; ++s)
    inverse[static_cast<std::size_t>(permuted(s, p.seq_kv))] = s;
  const Origin back = [inverse](const RowPosition& row) {
    return RowPosition{row.b, row.n, inverse[static_cast<std::size_t>(row.s)]};
  };
  return {.base = base,
          .variants = {rearranged(base, p, same_row, forth)},
          .combine = [p, back](const std::vector<Gradients>& outputs) {
            return moved(p, p, outputs[0], same_row, back);
          }};
}

Experiment permute_queries(const Trial& base) {
  const Op::Problem p = base.problem;
  const Origin forth = [p](const RowPosition& row) {
    return RowPosition{row.b, row.n, permuted(row.s, p.seq_q)};
  };
  std::vector<std::int64_t> inverse(static_cast<std::size_t>(p.seq_q));
  for (std::int64_t s = 0; s < p.seq_q; ++s)
    inverse[static_cast<std::size_t>(permuted(s, p.seq_q))] = s;
  const Origin back = [inverse](const RowPosition& row) {
    return RowPosition{row.b, row.n, inverse[static_cast<std::size_t>(row.s)]};
  };
  return {.base = base,
          .variants = {rearranged(base, p, forth, same_row)},
          .combine = [p, back](const std::vector<Gradients>& outputs) {
            return moved(p, p, outputs[0], back, same_row);
          }};
}

std::vector<Op::Problem> splittable() {
  return {with_mask(padded_problem(DType::bf16), 1, MaskShape::b_one_ss),
          with_compressed_mask(with_dropout(padded_problem(DType::fp32), 0.75), 3),
          with_pse(padded_problem(DType::fp16), 2, PseShape::slopes_bn)};
}

/// Appends rows of what is concatenated along the batch, which is slowest in every list of rows.
void append(Gradients& all, const Gradients& part) {
  const auto add = [](std::vector<double>& to, const std::vector<double>& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  add(all.dq, part.dq), add(all.dk, part.dk), add(all.dv, part.dv);
  add(all.dq_rope, part.dq_rope), add(all.dk_rope, part.dk_rope);
}

/// The problem of sequence b alone. In modes 7 and 8 its band sequence is in mode 4, the others are in 3 and 2.
Op::Problem alone(const Op::Problem& p, std::int64_t b) {
  Op::Problem one = p;
  one.batch = 1;
  one.seq_q = p.length_q(b), one.seq_kv = p.length_kv(b);
  one.lengths_q.clear(), one.lengths_kv.clear();
  if (!p.prefix.empty()) one.prefix = {p.prefix[static_cast<std::size_t>(b)]};
  if (p.sparse_mode < 7) return one;
  const auto has_queries = [](std::int64_t length) { return length > 0; };
  const auto first = std::ranges::find_if(p.lengths_q, has_queries) - p.lengths_q.begin();
  const auto last = std::ssize(p.lengths_q) - 1 -
                    (std::find_if(p.lengths_q.rbegin(), p.lengths_q.rend(), has_queries) -
                     p.lengths_q.rbegin());
  const bool band = b == (p.sparse_mode == 7 ? last : first);
  one.sparse_mode = band ? 4 : p.sparse_mode == 7 ? 3 : 2;
  return one;
}

Experiment split_batch(const Trial& base) {
  Experiment experiment{.base = base, .variants = {}, .combine = {}};
  for (std::int64_t b = 0; b < base.problem.batch; ++b) {
    const Origin origin = [b](const RowPosition& row) { return RowPosition{b, row.n, row.s}; };
    experiment.variants.push_back(rearranged(base, alone(base.problem, b), origin, origin));
  }
  experiment.combine = [](const std::vector<Gradients>& outputs) {
    Gradients all;
    for (const Gradients& part : outputs) append(all, part);
    return all;
  };
  return experiment;
}

std::vector<Op::Problem> ragged() {
  std::vector<Op::Problem> problems;
  for (const std::int64_t mode : {2, 3, 4, 6, 7, 8}) {
    Op::Problem p = with_compressed_mask(ragged_problem(mode % 2 == 0 ? DType::bf16 : DType::fp32), mode);
    p.pre_tokens = 47, p.next_tokens = mode == 8 ? -2 : 0;
    if (mode == 6) p.prefix = {28, 12, 9, 20};
    problems.push_back(p);
  }
  problems.push_back(with_dropout(ragged_problem(DType::fp16), 0.6));
  Op::Problem roped = with_compressed_mask(ragged_problem(DType::bf16), 3);
  roped.head_dim_rope = 16;
  problems.push_back(roped);
  return problems;
}

Experiment split_heads(const Trial& base) {
  const Op::Problem p = base.problem;
  Experiment experiment{.base = base, .variants = {}, .combine = {}};
  Op::Problem one = p;
  one.heads_q = p.group(), one.heads_kv = 1;
  for (std::int64_t kv = 0; kv < p.heads_kv; ++kv)
    experiment.variants.push_back(rearranged(
        base, one,
        [kv, p](const RowPosition& row) { return RowPosition{row.b, kv * p.group() + row.n, row.s}; },
        [kv](const RowPosition& row) { return RowPosition{row.b, kv, row.s}; }));
  experiment.combine = [p, one](const std::vector<Gradients>& outputs) {
    // Heads lie within a batch: take every head's rows from its own run.
    Gradients all;
    const auto interleave = [&](auto member, std::int64_t rows, std::int64_t heads, std::int64_t dim) {
      const auto part = static_cast<std::ptrdiff_t>(rows * heads * dim);
      for (std::int64_t b = 0; b < p.batch; ++b)
        for (const Gradients& output : outputs) {
          const auto first = (output.*member).begin() + b * part;
          (all.*member).insert((all.*member).end(), first, first + part);
        }
    };
    interleave(&Gradients::dq, p.seq_q, one.heads_q, p.head_dim);
    interleave(&Gradients::dk, p.seq_kv, 1, p.head_dim);
    interleave(&Gradients::dv, p.seq_kv, 1, p.head_dim_v);
    return all;
  };
  return experiment;
}

Experiment repeat_heads(const Trial& base) {
  const Op::Problem p = base.problem;
  Op::Problem repeated = p;
  repeated.heads_kv = p.heads_q;
  return {.base = base,
          .variants = {rearranged(base, repeated, same_row,
                                  [p](const RowPosition& row) {
                                    return RowPosition{row.b, row.n / p.group(), row.s};
                                  })},
          .combine = [p, repeated](const std::vector<Gradients>& outputs) {
            Gradients all = outputs[0];
            const auto sum_of_group = [&](const std::vector<double>& rows, const spec::Extents& own,
                                          const spec::Extents& to) {
              std::vector<double> sum(static_cast<std::size_t>(to.rows() * to.dim), 0.0);
              for (std::int64_t row = 0; row < own.rows(); ++row) {
                const RowPosition from = own.position(row);
                const std::int64_t target = to.row(from.b, from.n / p.group(), from.s);
                for (std::int64_t d = 0; d < to.dim; ++d)
                  sum[static_cast<std::size_t>(target * to.dim + d)] +=
                      rows[static_cast<std::size_t>(row * to.dim + d)];
              }
              return sum;
            };
            all.dk = sum_of_group(outputs[0].dk, key_extents(repeated), key_extents(p));
            all.dv = sum_of_group(outputs[0].dv, value_extents(repeated), value_extents(p));
            return all;
          }};
}

/// Modes 3 and 2 of TND, whose last (first) sequence is cut after some of its queries.
std::vector<Op::Problem> cuttable() {
  std::vector<Op::Problem> problems;
  for (const std::int64_t mode : {3, 2})
    for (const DType dtype : {DType::bf16, DType::fp32}) {
      Op::Problem p = with_compressed_mask(padded_problem(dtype), mode);
      p.input_layout = spec::Layout::tnd;
      p.seq_q = 33, p.seq_kv = 47, p.lengths_q = {21, 33}, p.lengths_kv = {30, 47};
      problems.push_back(p);
    }
  return problems;
}

/// dq of the pieces is concatenated, dk and dv of a sequence that both pieces see are added.
Experiment cut_queries(const Trial& base) {
  const Op::Problem& p = base.problem;
  constexpr std::int64_t queries_in_front = 13;
  const bool cut_last = p.sparse_mode == 3;
  const std::int64_t cut = cut_last ? 1 : 0, other = 1 - cut;
  const std::int64_t whole = p.lengths_q[static_cast<std::size_t>(cut)];
  const std::int64_t keys = p.lengths_kv[static_cast<std::size_t>(cut)];
  // The piece that also holds the other sequence comes in mode 7 (8), with a band for the cut one.
  const std::int64_t with_other = cut_last ? queries_in_front : whole - queries_in_front;
  Op::Problem large = p, small = p;
  large.lengths_q[static_cast<std::size_t>(cut)] = with_other;
  large.seq_q = std::ranges::max(large.lengths_q);
  large.sparse_mode = cut_last ? 7 : 8;
  large.pre_tokens = keys;
  large.next_tokens = cut_last ? with_other - whole : whole - keys;
  small.batch = 1, small.lengths_q.clear(), small.lengths_kv.clear();
  small.seq_q = whole - with_other, small.seq_kv = keys;
  const auto taken = [cut](std::int64_t skip) -> Origin {
    return [cut, skip](const RowPosition& row) {
      return row.b == cut ? RowPosition{cut, row.n, row.s + skip} : row;
    };
  };
  const auto alone_taken = [cut](std::int64_t skip) -> Origin {
    return [cut, skip](const RowPosition& row) { return RowPosition{cut, row.n, row.s + skip}; };
  };
  const std::int64_t large_skip = cut_last ? 0 : queries_in_front;
  const std::int64_t small_skip = cut_last ? queries_in_front : 0;
  return {.base = base,
          .variants = {rearranged(base, large, taken(large_skip), same_row),
                       rearranged(base, small, alone_taken(small_skip), alone_taken(0))},
          .combine = [p, large, small, cut, other, large_skip,
                      small_skip](const std::vector<Gradients>& outputs) {
            const auto place = [](const std::vector<double>& rows, const spec::Extents& own,
                                  const spec::Extents& to, const Origin& target,
                                  std::vector<double>& sum) {
              for (std::int64_t row = 0; row < own.rows(); ++row) {
                const RowPosition at = target(own.position(row));
                const std::int64_t first = to.row(at.b, at.n, at.s) * to.dim;
                for (std::int64_t d = 0; d < to.dim; ++d)
                  sum[static_cast<std::size_t>(first + d)] +=
                      rows[static_cast<std::size_t>(row * to.dim + d)];
              }
            };
            const Origin of_large = [cut, large_skip](const RowPosition& row) {
              return row.b == cut ? RowPosition{cut, row.n, row.s + large_skip} : row;
            };
            const Origin of_small = [cut, small_skip](const RowPosition& row) {
              return RowPosition{cut, row.n, row.s + small_skip};
            };
            const Origin key_of_small = [cut](const RowPosition& row) {
              return RowPosition{cut, row.n, row.s};
            };
            const auto sum = [&](const spec::Extents& to) {
              return std::vector<double>(static_cast<std::size_t>(to.rows() * to.dim), 0.0);
            };
            Gradients all{.dq = sum(query_extents(p)), .dk = sum(key_extents(p)),
                          .dv = sum(value_extents(p)), .dq_rope = {}, .dk_rope = {}};
            place(outputs[0].dq, query_extents(large), query_extents(p), of_large, all.dq);
            place(outputs[1].dq, query_extents(small), query_extents(p), of_small, all.dq);
            place(outputs[0].dk, key_extents(large), key_extents(p), same_row, all.dk);
            place(outputs[1].dk, key_extents(small), key_extents(p), key_of_small, all.dk);
            place(outputs[0].dv, value_extents(large), value_extents(p), same_row, all.dv);
            place(outputs[1].dv, value_extents(small), value_extents(p), key_of_small, all.dv);
            return all;
          }};
}

}  // namespace

std::span<const Relation> rearranging_relations() {
  static constexpr Relation relations[] = {
      {"permute_keys", "Keys that change places take dk and dv with them and leave dq alone.",
       Agreement::bound, freely_masked, permute_keys},
      {"permute_queries", "Queries that change places take dq with them and leave dk and dv alone.",
       Agreement::bound, freely_masked, permute_queries},
      {"split_batch", "Batch entries on their own have the gradients that they have together.",
       Agreement::bits, splittable, split_batch},
      {"split_heads", "Key heads on their own have the gradients that they have together.",
       Agreement::bits, splittable, split_heads},
      {"sequences_alone",
       "A sequence of TND on its own has the gradients that it has among others.",
       Agreement::bound, ragged, split_batch},
      {"repeat_heads", "Key heads repeated for every query head share dk and dv of the group.",
       Agreement::bound, splittable, repeat_heads},
      {"cut_queries",
       "A sequence in mode 3 (2) cut into pieces of modes 7 and 3 (2 and 8): dq is concatenated, dk and dv add.",
       Agreement::bound, cuttable, cut_queries}};
  return relations;
}

}  // namespace assay::conformance::flash
