#include "operators/sparse_flash_attention_grad/plan.hpp"

#include <algorithm>

#include "case/lengths.hpp"
#include "operators/sparse_flash_attention_grad/basis.hpp"
#include "operators/sparse_flash_attention_grad/lists.hpp"
#include "plan/draws.hpp"
#include "plan/stridings.hpp"

namespace assay::conformance::sparse_flash {
namespace {

using attention::Scale;
using Problem = Op::Problem;

Heads heads_of(const Problem& p) {
  if (p.heads_q == 1) return Heads::one;
  return p.heads_q <= 4 ? Heads::few : p.heads_q <= 32 ? Heads::some : Heads::many;
}
Entries entries_of(const Problem& p) {
  if (p.sparse_block_count < 1024) return Entries::few;
  return p.sparse_block_count == 1024 ? Entries::usual : Entries::twice;
}
Blocks blocks_of(const Problem& p) {
  const std::int64_t blocks = (p.length_kv(0) + p.sparse_block_size - 1) / p.sparse_block_size;
  if (blocks == p.sparse_block_count) return Blocks::equal;
  return blocks < p.sparse_block_count ? Blocks::fewer : Blocks::more;
}
Queries queries_of(const Problem& p) {
  const std::int64_t queries = p.length_q(0), keys = p.length_kv(0);
  if (queries == 1) return Queries::one;
  if (queries == keys) return Queries::equal;
  return queries < keys ? Queries::fewer : Queries::more;
}
Sequences sequences_of(const Problem& p) {
  if (p.batch == 1) return Sequences::one;
  return p.lengths_q.empty() && p.lengths_kv.empty() ? Sequences::alike : Sequences::unequal;
}

std::int64_t draw_heads(Heads heads, Draws& draws) {
  switch (heads) {
    case Heads::one:
      return 1;
    case Heads::few:
      return draws.one_of<std::int64_t>({2, 2, 4});
    case Heads::some:
      return draws.one_of<std::int64_t>({8, 16, 32});
    case Heads::many:
      return draws.one_of<std::int64_t>({64, 128});
  }
  return 1;
}

/// Chooses a random number of list entries, and returns the number of keys of the first sequence.
/// There are at least 3 keys, so that a case may have fewer queries than keys.
std::int64_t draw_keys(const Chosen& k, Problem& p, Draws& draws) {
  const std::int64_t size = k.block_size, least = size == 1 ? 3 : 1;
  const std::int64_t entries = size == 1   ? draws.integer(4, 24)
                               : size < 32 ? draws.integer(2, 5)
                                           : draws.integer(2, 3);
  p.sparse_block_count = k.entries == Entries::usual   ? 1024
                         : k.entries == Entries::twice ? 2048
                                                       : entries;
  std::int64_t blocks = p.sparse_block_count;
  if (k.blocks == Blocks::more) blocks += draws.integer(1, size == 1 ? 12 : 2);
  if (k.blocks == Blocks::fewer) {
    const std::int64_t most = k.heads > Heads::few && k.queries >= Queries::equal ? 12 : 90;
    blocks = draws.integer(least, std::min(blocks - 1, std::max(least, most / size)));
  }
  // If a block has several keys, the last block is incomplete in half of the random cases.
  const bool is_full = size == 1 || draws.integer(0, 1) == 0;
  return blocks * size - (is_full ? 0 : draws.integer(1, size - 3));
}

std::int64_t draw_queries(Queries queries, std::int64_t keys, std::int64_t heads, Draws& draws) {
  const std::int64_t affordable =
      std::clamp<std::int64_t>(2'000 / (std::max<std::int64_t>(1, keys) * heads), 2, 24);
  switch (queries) {
    case Queries::one:
      return 1;
    case Queries::fewer:
      return draws.integer(2, std::min(affordable, keys - 1));
    case Queries::equal:
      return keys;
    case Queries::more:
      return keys + draws.integer(1, 3);
  }
  return 1;
}

Case<Op> draw_case(const Chosen& k, double, std::uint64_t lot) {
  Draws draws(lot);
  Problem p{.dtype = k.dtype,
            .layout = k.layout,
            .heads_q = draw_heads(k.heads, draws),
            .head_dim_rope = k.rope,
            .value_form = k.value,
            .scale_value = attention::scale_of(k.scale, Problem::head_dim + k.rope),
            .sparse_block_size = k.block_size,
            .sparse_mode = k.sparse_mode};
  const std::int64_t keys = draw_keys(k, p, draws);
  const std::int64_t queries = draw_queries(k.queries, keys, p.heads_q, draws);
  const std::int64_t batch = k.sequences == Sequences::one ? 1 : draws.integer(2, 3);
  std::vector<std::int64_t> of_queries(static_cast<std::size_t>(batch), queries);
  std::vector<std::int64_t> of_keys(static_cast<std::size_t>(batch), keys);
  if (k.sequences == Sequences::unequal)
    for (std::size_t b = 1; b < of_queries.size(); ++b) {
      of_queries[b] = draws.integer(1, queries + 2);
      of_keys[b] = b == 1 ? keys + 1 : draws.integer(1, keys);
    }
  set_lengths(p, std::move(of_queries), std::move(of_keys));
  return {.problem = p,
          .product = k.product,
          .inputs = k.inputs,
          .profile = std::string(k.profile),
          .patterns = {.lists = std::string(k.lists)},
          .seed = static_cast<std::uint64_t>(draws.integer(1, 999999))};
}

}  // namespace

const Factors<Op, Chosen>& factors() {
  using F = Factors<Op, Chosen>;
  using K = Chosen;
  static const F table({
      F::axis("product", &K::product, every<spec::Product>(),
              [](const Case<Op>& c) { return c.product; }),
      F::axis("dtype", &K::dtype, only({spec::DType::fp16, spec::DType::bf16}),
              [](const Case<Op>& c) { return c.problem.dtype; }),
      F::axis("layout", &K::layout, only({spec::Layout::bsnd, spec::Layout::tnd}),
              [](const Case<Op>& c) { return c.problem.layout; }),
      F::axis("sparse_mode", &K::sparse_mode, {{0, "0"}, {3, "3"}},
              [](const Case<Op>& c) { return c.problem.sparse_mode; }),
      F::axis("heads_q", &K::heads, in_order<Heads>({"one", "few", "some", "many"}),
              [](const Case<Op>& c) { return heads_of(c.problem); }),
      F::axis("head_dim_rope", &K::rope, {{Problem::most_rope, "64"}, {0, "0"}},
              [](const Case<Op>& c) { return c.problem.head_dim_rope; }),
      F::axis("value_form", &K::value, every<spec::SparseValue>(),
              [](const Case<Op>& c) { return c.problem.value_form; }),
      F::axis("block_size", &K::block_size,
              {{1, "1"}, {8, "8"}, {16, "16"}, {32, "32"}, {64, "64"}},
              [](const Case<Op>& c) { return c.problem.sparse_block_size; }),
      F::axis("entries", &K::entries, in_order<Entries>({"1024", "2048", "few"}),
              [](const Case<Op>& c) { return entries_of(c.problem); }),
      F::axis("blocks", &K::blocks, in_order<Blocks>({"fewer", "equal", "more"}),
              [](const Case<Op>& c) { return blocks_of(c.problem); }),
      F::axis("lists", &K::lists,
              words({"shuffled", "ascending", "descending", "first", "recent", "sink"}),
              [](const Case<Op>& c) -> std::string_view { return c.patterns.lists; }),
      F::axis("queries", &K::queries, in_order<Queries>({"one", "fewer", "equal", "more"}),
              [](const Case<Op>& c) { return queries_of(c.problem); }),
      F::axis("sequences", &K::sequences, in_order<Sequences>({"one", "alike", "unequal"}),
              [](const Case<Op>& c) { return sequences_of(c.problem); }),
      F::axis("inputs", &K::inputs, drawn_stridings(),
              [](const Case<Op>& c) { return drawn_striding_of(c.inputs); }),
      F::drawn("profile", &K::profile,
               words({"normal", "peaked", "all_positive", "offset", "outliers", "subnormal_fp16",
                      "large_exponent", "tiny_dy", "huge_dy", "sparse_dy", "foreign_statistics"})),
      F::drawn("scale", &K::scale,
               Named<Scale>{{Scale::ordinary, "ordinary"},
                            {Scale::odd, "odd"},
                            {Scale::negative, "negative"},
                            {Scale::zero, "zero"}}),
  });
  return table;
}

const ChoiceSpace& choice_space() {
  using K = Chosen;
  constexpr auto senseless = Why::senseless, costly = Why::costly, fruitless = Why::fruitless;
  const auto& of = factors();
  static const ChoiceSpace space(
      of.sizes(),
      {of.rule({senseless, "In BSND all sequences have the same length."}, {"layout", "sequences"},
               [](const K& k) {
                 return k.layout == spec::Layout::bsnd && k.sequences == Sequences::unequal;
               }),
       of.rule({senseless,
                "With other profiles than normal, a large scale would only loosen the bound."},
               {"profile", "scale"},
               [](const K& k) { return k.profile != "normal" && k.scale != Scale::ordinary; }),
       of.rule({senseless, "Other types have no such subnormal numbers."}, {"dtype", "profile"},
               [](const K& k) {
                 return k.profile == "subnormal_fp16" && k.dtype != spec::DType::fp16;
               }),
       of.rule({fruitless, "A sparse d_out with few rows can be all zero."}, {"queries", "profile"},
               [](const K& k) { return k.queries == Queries::one && k.profile == "sparse_dy"; }),
       of.rule({costly,
                "A case whose number of blocks is at least the length of a long list has 2048 keys "
                "or more and takes too long."},
               {"block_size", "entries", "blocks"},
               [](const K& k) {
                 return k.blocks != Blocks::fewer && k.entries != Entries::few &&
                        (k.block_size > 1 || k.entries == Entries::twice);
               }),
       of.rule({costly,
                "A case with at least 1024 keys and an equal number of queries takes too long."},
               {"entries", "blocks", "queries"},
               [](const K& k) {
                 return k.blocks != Blocks::fewer && k.entries != Entries::few &&
                        k.queries >= Queries::equal;
               }),
       of.rule({costly, "A case with 1024 keys or more and many heads takes too long."},
               {"entries", "blocks", "heads_q"},
               [](const K& k) {
                 return k.blocks != Blocks::fewer && k.entries != Entries::few &&
                        k.heads > Heads::few;
               }),
       of.rule(
           {costly, "A case with many heads and equal numbers of queries and keys takes too long."},
           {"heads_q", "queries", "block_size"},
           [](const K& k) {
             return k.queries >= Queries::equal &&
                    (k.heads == Heads::many || (k.heads == Heads::some && k.block_size > 1));
           }),
       of.rule({costly,
                "A case with several large blocks of keys, and with equal numbers of queries and "
                "keys, takes too long."},
               {"queries", "block_size", "blocks"}, [](const K& k) {
                 return k.queries >= Queries::equal && k.block_size >= 32 &&
                        k.blocks != Blocks::fewer;
               })});
  return space;
}

const Drawn<Op, Chosen>& drawn() {
  static const Drawn<Op, Chosen> cases{
      .factors = factors(),
      .space = choice_space(),
      .draw = draw_case,
      .completing = factors().choice({{"profile", "normal"}, {"scale", "ordinary"}}),
      .counts = attention::is_surely_tight};
  return cases;
}

std::vector<Case<Op>> exact_cases(const SamplingPlan& plan) {
  constexpr std::uint64_t apart = 2'500'000;
  SamplingPlan lots = plan;
  lots.seed += apart;
  std::vector<Case<Op>> cases = drawn().cover(lots);
  for (std::size_t k = 0; k < cases.size(); ++k) {
    Case<Op>& c = cases[k];
    c.track = k % 2 == 0 ? Track::exact : Track::exact_staged;
    c.profile = Case<Op>().profile;
    c.problem.scale_value = exact_case_scale(dense_problem(c.problem), c.seed);
  }
  return cases;
}

std::vector<Case<Op>> legal_calls() {
  std::vector<Case<Op>> calls;
  for (const bool rope : {true, false})
    for (const auto layout : {spec::Layout::bsnd, spec::Layout::tnd})
      for (const auto form : {spec::SparseValue::given, spec::SparseValue::merged}) {
        Case<Op> c{.track = Track::arguments};
        c.problem = {.dtype = calls.size() % 2 == 0 ? spec::DType::bf16 : spec::DType::fp16,
                     .layout = layout,
                     .heads_q = 4,
                     .seq_q = 5,
                     .seq_kv = 40,
                     .head_dim_rope = rope ? Problem::most_rope : 0,
                     .value_form = form,
                     .sparse_block_size = calls.size() % 3 == 0 ? 1 : 16,
                     .sparse_mode = calls.size() % 2 == 0 ? 3 : 0};
        if (layout == spec::Layout::bsnd) c.problem.batch = 2;
        calls.push_back(c);
      }
  return calls;
}

}  // namespace assay::conformance::sparse_flash
