#include "selection/plan/draws.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace assay::conformance::selection {

HeadDims head_dims_of(const Problem& p) {
  if (p.head_dim == 192) return p.head_dim_v == 192 ? HeadDims::wide : HeadDims::mixed;
  return p.head_dim_v == 192 ? HeadDims::wide_value : HeadDims::narrow;
}

Group group_of(const Problem& p) {
  if (p.group() == 1) return Group::one;
  if (p.group() > 17) return Group::most;
  return p.group() < 15 ? Group::few : Group::sixteen;
}

BlockCount block_count_of(const Problem& p) {
  const std::int64_t count = p.selected_block_count;
  if (count <= 2) return count == 1 ? BlockCount::one : BlockCount::two;
  if (count <= 8) return BlockCount::few;
  if (count <= 16) return count == 16 ? BlockCount::sixteen : BlockCount::some;
  return count < 32 ? BlockCount::many : BlockCount::most;
}

Queries queries_of(const Problem& p) {
  const std::int64_t queries = p.length_q(0), keys = p.length_kv(0);
  if (queries == 1) return Queries::one;
  if (queries == keys) return Queries::equal;
  if (std::abs(queries - p.selected_block_size) <= 1) return Queries::edge;
  return queries < keys ? Queries::shorter : Queries::longer;
}

Keys keys_of(const Problem& p) {
  const std::int64_t more = p.length_kv(0) - listed_keys(p);
  if (more == 0) return Keys::listed;
  return more == p.selected_block_size ? Keys::one_more : Keys::more;
}

Batch batch_of(const Problem& p) {
  if (p.batch == 1) return Batch::single;
  if (p.batch >= many_sequences) return Batch::many;
  return p.lengths_q.empty() && p.lengths_kv.empty() ? Batch::alike : Batch::unequal;
}

namespace {

/// The smallest and the largest value of a class, such as 3 and 8 for "3 to 8 blocks in a list".
struct Range {
  std::int64_t first, last;
};

Range range_of(BlockCount count) {
  switch (count) {
    case BlockCount::one:
      return {1, 1};
    case BlockCount::two:
      return {2, 2};
    case BlockCount::few:
      return {3, 8};
    case BlockCount::some:
      return {9, 15};
    case BlockCount::sixteen:
      return {16, 16};
    case BlockCount::many:
      return {17, 31};
    case BlockCount::most:
      return {32, 32};
  }
  return {1, 1};
}

Range range_of(Group group) {
  switch (group) {
    case Group::one:
      return {1, 1};
    case Group::few:
      return {2, 14};
    case Group::sixteen:
      return {15, 17};
    case Group::most:
      return {18, 32};
  }
  return {1, 1};
}

std::int64_t draw_count(const Categories& k, Draws& draws) {
  const Range range = range_of(k.block_count);
  // An exact case is a test case in which all sums are exact. In such a case, a list that repeats a
  // single block must have 1, 2, 4 or 8 entries. In the class `few` (3 to 8 entries), only 4 and 8
  // are possible.
  if (k.block_count == BlockCount::few && k.lists == "all_equal" && k.track != Track::bound)
    return draws.one_of({4, 8});
  const std::int64_t affordable = std::max(range.first, 1024 / k.block_size);
  return draws.integer(0, 2) == 0 ? draws.integer(range.first, std::min(range.last, affordable))
                                  : draws.one_of({range.first, std::min(range.last, affordable)});
}

void draw_heads(Problem& p, const Categories& k, Draws& draws) {
  const Range range = range_of(k.group);
  // Most random problems of the class `few` have at most 4 query heads per key head. The limit of
  // the total work then allows more queries.
  const std::int64_t most = k.group == Group::few && draws.integer(0, 3) != 0 ? 4 : range.last;
  const std::int64_t per_key = draws.integer(range.first, most);
  p.heads_kv = k.heads == KeyHeads::one ? 1 : draws.one_of({2, 2, 3});
  p.heads_q = p.heads_kv * per_key;
}

void set_dims(Problem& p, HeadDims dims) {
  p.head_dim = dims == HeadDims::wide || dims == HeadDims::mixed ? 192 : 128;
  p.head_dim_v = dims == HeadDims::wide || dims == HeadDims::wide_value ? 192 : 128;
}

std::int64_t draw_batch(Batch batch, Draws& draws) {
  switch (batch) {
    case Batch::single:
      return 1;
    case Batch::alike:
    case Batch::unequal:
      return draws.one_of<std::int64_t>({2, 2, 3, 3, draws.integer(4, 9)});
    case Batch::many:
      return many_sequences + draws.integer(0, 2);
  }
  return 1;
}

/// Returns a random number of keys for the first sequence.
std::int64_t draw_keys(const Problem& p, Keys keys, Draws& draws) {
  const std::int64_t more = keys == Keys::listed ? 0
                            : keys == Keys::one_more
                                ? 1
                                : draws.integer(2, p.selected_block_size <= 32 ? 6 : 2);
  return listed_keys(p) + more * p.selected_block_size;
}

/// Returns a random number of queries for the first sequence. `own`: number of its keys; `budget`:
/// limit of the work of all queries.
std::int64_t draw_queries(const Problem& p, Queries queries, std::int64_t own, double budget,
                          Draws& draws) {
  const std::int64_t size = p.selected_block_size;
  const auto affordable =
      static_cast<std::int64_t>(budget / static_cast<double>(listed_keys(p) * p.heads_q * p.batch));
  switch (queries) {
    case Queries::one:
      return 1;
    case Queries::edge: {
      const std::int64_t edge = size + draws.integer(-1, 1);
      return edge == own ? size - 1 : edge;
    }
    case Queries::shorter:
      return draws.integer(2, std::clamp<std::int64_t>(affordable, 2, size - 2));
    case Queries::equal:
      return own;
    case Queries::longer:
      return own + draws.integer(2, 9);
  }
  return 1;
}

void draw_lengths(Problem& p, const Categories& k, double budget, Draws& draws) {
  p.batch = draw_batch(k.batch, draws);
  const std::int64_t keys = draw_keys(p, k.keys, draws);
  const std::int64_t queries = draw_queries(p, k.queries, keys, budget, draws);
  std::vector<std::int64_t> of_queries(static_cast<std::size_t>(p.batch), queries);
  std::vector<std::int64_t> of_keys(static_cast<std::size_t>(p.batch), keys);
  // Only the lengths of the first sequence determine the classes of the case. Other sequences may
  // be longer.
  const std::int64_t most_queries = queries < 32 ? 2 * queries + 1 : queries + 1;
  if (k.batch != Batch::alike)
    for (std::size_t b = 1; b < of_queries.size(); ++b) {
      of_queries[b] = draws.integer(1, most_queries);
      of_keys[b] = listed_keys(p) + draws.integer(0, 2) * p.selected_block_size;
    }
  // All random lengths may be equal by chance. Changes the last length in this case.
  if (k.batch == Batch::unequal) of_keys.back() = keys + p.selected_block_size;
  set_lengths(p, std::move(of_queries), std::move(of_keys));
}

}  // namespace

Seeded draw_problem(const Categories& k, double budget, std::uint64_t seed) {
  Draws draws(seed);
  Problem p;
  p.dtype = k.dtype;
  p.sparse_mode = k.sparse_mode;
  p.atten_mask = k.mask;
  p.mask_dtype = k.mask_dtype;
  p.selected_block_size = k.block_size;
  p.selected_block_count = draw_count(k, draws);
  draw_heads(p, k, draws);
  set_dims(p, k.head_dims);
  draw_lengths(p, k, budget, draws);
  const auto of_case = static_cast<std::uint64_t>(draws.integer(1, 999999));
  p.scale_value = k.track == Track::bound ? scale_of(k.scale, p.head_dim) : exact_scale(p, of_case);
  return {p, of_case};
}

Counted with_many_tokens(std::uint64_t seed) {
  Counted c{.seed = seed + 56, .note = "token indices that need more than 16 bits"};
  Draws draws(c.seed);
  const std::int64_t batch = draws.integer(1'200, 2'000);
  c.problem = {.batch = batch,
               .seq_q = 65'536 / batch + draws.integer(1, 3),
               .seq_kv = 16,
               .head_dim = 128,
               .head_dim_v = 128,
               .scale_value = attention::ordinary_scale(128),
               .selected_block_size = 16,
               .selected_block_count = 1};
  return c;
}

namespace {

/// Makes a random small case with `group` query heads per key head. `group` and `dtype` determine
/// the number of blocks in a list; all other sizes are random.
Counted draw_of_group(std::int64_t group, spec::DType dtype, Draws& draws) {
  Counted c{.note = "one case for each group size"};
  Problem& p = c.problem;
  p = {.dtype = dtype, .selected_block_size = 16};
  p.heads_kv = group <= 8 ? draws.integer(1, 3) : 1;
  p.heads_q = p.heads_kv * group;
  // 7 and 32 have no common divisor. Therefore 32 consecutive values of `group` give each number of
  // blocks from 1 to 32 once, in each type.
  p.selected_block_count = 1 + (7 * group + (dtype == spec::DType::fp16 ? 0 : 16)) % 32;
  set_dims(p, draws.one_of({HeadDims::wide, HeadDims::mixed, HeadDims::narrow}));
  if (draws.integer(0, 1) == 0) {
    p.sparse_mode = 2;
    p.atten_mask = spec::SelectedMask::compressed;
  }
  const bool is_long = listed_keys(p) > 128;
  p.batch = is_long ? 1 : draws.one_of({1, 2, 4});
  std::vector<std::int64_t> queries, keys;
  for (std::int64_t b = 0; b < p.batch; ++b) {
    queries.push_back(draws.integer(1, is_long ? 2 : 3));
    keys.push_back(listed_keys(p) + p.selected_block_size * draws.integer(0, 2));
  }
  set_lengths(p, std::move(queries), std::move(keys));
  return c;
}

/// Makes a random case with `tokens` tokens. The caller passes the number of cores of a chip (24 or
/// 48), this number minus 1, or this number plus 1.
Counted draw_of_cores(std::int64_t tokens, spec::DType dtype, Draws& draws) {
  Counted c{.note = "number of tokens equal to the number of cores, or one more, or one less"};
  Problem& p = c.problem;
  p = {.dtype = dtype, .heads_q = draws.integer(1, 2), .selected_block_size = 16};
  p.selected_block_count = draws.integer(1, 3);
  set_dims(p, HeadDims::mixed);
  const std::int64_t first = draws.integer(1, tokens - 1), count = listed_keys(p);
  set_lengths(p, {first, tokens - first}, {count + 16, count});
  return c;
}

/// Makes a random case with more than 256 blocks, so that block indices need more than 8 bits.
Counted draw_of_many_blocks(spec::DType dtype, Draws& draws) {
  Counted c{.note = "block numbers that need more than 8 bits"};
  Problem& p = c.problem;
  p = {.dtype = dtype, .heads_q = 2, .selected_block_size = 16, .selected_block_count = 6};
  p.seq_q = draws.integer(9, 14);
  p.seq_kv = 16 * draws.integer(280, 300);
  set_dims(p, HeadDims::narrow);
  return c;
}

}  // namespace

std::vector<Counted> counted_problems(std::uint64_t seed) {
  constexpr std::int64_t most_of_a_group = 32;
  constexpr std::uint64_t seeds = 3;  // number of seeds after which every group of every type was
                                      // drawn
  std::vector<Counted> cases;
  const std::uint64_t lots = stream(seed, Stream::sampling).bits(14);
  const auto add = [&](Track track, auto&& draw) {
    Draws draws(lots + cases.size());
    Counted c = draw(draws);
    c.track = track;
    c.seed = static_cast<std::uint64_t>(draws.integer(1, 999999));
    c.problem.scale_value = c.track == Track::exact ? exact_scale(c.problem, c.seed)
                                                    : attention::ordinary_scale(c.problem.head_dim);
    cases.push_back(std::move(c));
  };
  const auto dtype_of = [](std::uint64_t turn) {
    return turn % 2 == 0 ? spec::DType::fp16 : spec::DType::bf16;
  };
  for (std::uint64_t turn = 0; turn < 2 * most_of_a_group; ++turn) {
    const std::uint64_t group = 1 + turn / 2;
    if ((group + 2 * (turn % 2) + seed) % seeds == 0)
      add(group % 2 == 0 ? Track::exact : Track::bound, [&](Draws& draws) {
        return draw_of_group(static_cast<std::int64_t>(group), dtype_of(turn), draws);
      });
  }
  for (const std::int64_t cores : {24, 48})
    for (const std::int64_t offset : {-1, 0, 1})
      add(Track::exact,
          [&](Draws& draws) { return draw_of_cores(cores + offset, dtype_of(seed), draws); });
  add(Track::bound, [&](Draws& draws) { return draw_of_many_blocks(dtype_of(seed + 1), draws); });
  return cases;
}

double fewest_entries(const Categories& k) {
  const std::int64_t listed = k.block_size * range_of(k.block_count).first;
  std::int64_t rows = range_of(k.group).first * (k.heads == KeyHeads::one ? 1 : 2) *
                      (k.batch == Batch::single ? 1
                       : k.batch == Batch::many ? many_sequences
                                                : 2);
  if (k.queries == Queries::edge) rows *= k.block_size;
  if (k.queries == Queries::equal || k.queries == Queries::longer) rows *= listed;
  return static_cast<double>(rows * listed);
}

double fewest_keys(const Categories& k) {
  const std::int64_t heads =
      (k.heads == KeyHeads::one ? 1 : 2) * (k.batch == Batch::single ? 1
                                            : k.batch == Batch::many ? many_sequences
                                                                     : 2);
  return static_cast<double>(heads * k.block_size * range_of(k.block_count).first);
}

double most_keys(const Categories& k) { return k.heads == KeyHeads::one ? 8200 : 4200; }

double most_entries(const Categories& k) {
  constexpr double of_one_head = 2.7e5, of_many = 5e4;
  const bool single = k.group == Group::one && k.heads == KeyHeads::one && k.batch == Batch::single;
  return single ? of_one_head : of_many;
}

double least_cost(const Categories& k) {
  return 0.03 + fewest_keys(k) * 7e-5 + fewest_entries(k) * 4e-7;
}

}  // namespace assay::conformance::selection
