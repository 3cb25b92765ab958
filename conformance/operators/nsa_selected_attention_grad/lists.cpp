#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "assay/conformance/operators/nsa_selected_attention_grad.hpp"
#include "assay/parallel/loop.hpp"
#include "attention/mask_ends.hpp"
#include "inputs/input_profiles.hpp"

namespace assay::conformance {
namespace {

using Op = spec::NsaSelectedAttentionGrad;
using List = std::vector<std::int64_t>;

/// Draws numbers one after the other.
class Lots {
 public:
  explicit Lots(const Random& random) : random_(random) {}
  std::int64_t integer(std::int64_t first, std::int64_t last) {
    return random_.integer(next_++, first, last);
  }

 private:
  Random random_;
  std::uint64_t next_ = 0;
};

/// One query of one key head, as patterns see it.
struct Query {
  std::int64_t blocks;    ///< of its sequence
  std::int64_t count;     ///< of the list
  std::int64_t own;       ///< the block at its position, or the last one
  bool is_early;          ///< fewer keys lie up to its position than it lists
  Random query, head, b;  ///< of the query; of its head; of its sequence
};

List ascending(std::int64_t first, std::int64_t last) {
  List list(static_cast<std::size_t>(last - first));
  std::iota(list.begin(), list.end(), first);
  return list;
}

/// `count` of the blocks in random order: each once, or, where there are fewer, as often as the
/// others or once more. There is at least one block.
List some_of(List blocks, std::int64_t count, Lots lots) {
  for (std::size_t k = 0; std::ssize(blocks) < count; ++k) {
    const std::int64_t block = blocks[k];
    blocks.push_back(block);
  }
  for (std::int64_t k = 0; k < count; ++k)
    std::swap(blocks[static_cast<std::size_t>(k)],
              blocks[static_cast<std::size_t>(lots.integer(k, std::ssize(blocks) - 1))]);
  blocks.resize(static_cast<std::size_t>(count));
  return blocks;
}

List some_blocks(const Query& q, const Random& random) {
  return some_of(ascending(0, q.blocks), q.count, Lots(random));
}

List identity(const Query& q) {
  List list = ascending(0, q.count);
  for (std::int64_t& block : list) block %= q.blocks;
  return list;
}

List shuffled(const Query& q) { return some_blocks(q, q.query); }

List in_order(const Query& q) {
  List list = some_blocks(q, q.query);
  std::ranges::sort(list);
  return list;
}

/// Moves `block` to place `k`; what is there gives way if it was not listed.
void put(List& list, std::size_t k, std::int64_t block) {
  const auto found = std::ranges::find(list, block);
  if (found != list.end())
    std::swap(*found, list[k]);
  else
    list[k] = block;
}

List diagonal_first(const Query& q) {
  List list = some_blocks(q, q.query);
  put(list, 0, q.own);
  return list;
}

/// The first block, the query's own and the one in front of it, as far as the list goes; then any.
List anchored(const Query& q) {
  List list = some_blocks(q, q.query);
  std::size_t k = 0;
  for (const std::int64_t block : {std::int64_t{0}, q.own, q.own - 1}) {
    const auto end = list.begin() + static_cast<std::ptrdiff_t>(k);
    if (k == list.size() || block < 0 || std::find(list.begin(), end, block) != end) continue;
    put(list, k++, block);
  }
  return list;
}

/// Half as many blocks as places, so that some come twice and more often.
List duplicates(const Query& q) {
  Lots lots(q.query);
  const List pool = some_of(ascending(0, q.blocks), (q.count + 1) / 2, lots);
  List list;
  for (std::int64_t k = 0; k < q.count; ++k)
    list.push_back(pool[static_cast<std::size_t>(lots.integer(0, std::ssize(pool) - 1))]);
  return list;
}

List all_equal(const Query& q) {
  return List(static_cast<std::size_t>(q.count), Lots(q.query).integer(0, q.blocks - 1));
}

List last_block(const Query& q) {
  List list = some_blocks(q, q.query);
  put(list, list.size() - 1, q.blocks - 1);
  return list;
}

List per_head(const Query& q) { return some_blocks(q, q.head); }

List shared(const Query& q) { return some_blocks(q, q.b); }

/// Where a list has more places than there are blocks up to the query's, these in order, then later
/// ones; else any of them. Masks of devices that look at places of the list then agree with the
/// positions of the keys.
List causal(const Query& q) {
  if (!q.is_early) return some_of(ascending(0, q.own + 1), q.count, Lots(q.query));
  List list = ascending(0, q.own + 1);
  const List after = ascending(q.own + 1, q.blocks);
  const List later = some_of(after.empty() ? list : after, q.count - q.own - 1, Lots(q.query));
  list.insert(list.end(), later.begin(), later.end());
  return list;
}

struct ListPattern {
  std::string_view name, sentence;
  List (*list)(const Query& query);
};

constexpr ListPattern patterns[] = {
    {"shuffled", "every query and key head lists blocks of its own, each once, in random order",
     shuffled},
    {"identity", "every list is 0, 1, 2 and so on", identity},
    {"ascending", "every query and key head lists blocks of its own, each once, in order",
     in_order},
    {"diagonal_first", "as shuffled, the block at the query's position first", diagonal_first},
    {"anchored", "the first block, the query's own and the one in front of it, then others",
     anchored},
    {"duplicates", "half as many blocks as places: some are listed twice and more often",
     duplicates},
    {"all_equal", "one block in all places of a list", all_equal},
    {"last_block", "as shuffled, the last block of the sequence in the last place", last_block},
    {"per_head", "all queries of a key head list the same blocks, other heads others", per_head},
    {"shared", "all queries of a sequence list the same blocks: the others are nobody's", shared},
    {"causal",
     "blocks up to the query's own; in order, and later ones behind them, where they are fewer "
     "than places",
     causal},
};

const ListPattern& pattern_of(const std::string& name) {
  for (const ListPattern& pattern : patterns)
    if (pattern.name == name) return pattern;
  throw std::invalid_argument("no pattern of lists '" + name + "'");
}

/// Under the mask a query sees the blocks that begin at or before its position; one of them must be
/// listed.
void show_one(List& list, const Query& q) {
  if (std::ranges::any_of(list, [&](std::int64_t block) { return block <= q.own; })) return;
  Lots lots(q.query);
  const auto place = static_cast<std::size_t>(lots.integer(0, q.count - 1));
  const std::int64_t visible = lots.integer(0, q.own);
  if (std::ranges::min(list) == std::ranges::max(list))
    std::ranges::fill(list, visible);
  else
    list[place] = visible;
}

}  // namespace

std::span<const InputProfile> list_patterns() {
  static const auto named = [] {
    std::vector<InputProfile> entries;
    for (const ListPattern& pattern : patterns) entries.push_back({pattern.name, pattern.sentence});
    return entries;
  }();
  return named;
}

std::span<const PatternField<Op>> Suite<Op>::patterns() {
  static constexpr PatternField<Op> all[] = {
      {"lists", &Patterns::lists, "pattern of the lists of blocks", list_patterns}};
  return all;
}

spec::Tensor make_topk_indices(const Case<Op>& c) {
  const Op::Problem& p = c.problem;
  const auto call = spec::call_of(p, c.entry_point, c.product, c.inputs, c.outputs);
  spec::Tensor tensor = guarded_tensor(call.parameters.topk_indices);
  const spec::Extents extents = topk_extents(p);
  const spec::HeadIndex at(tensor, spec::Layout::tnd, extents);
  const ListPattern& pattern = pattern_of(c.patterns.lists);
  const DrawnPlaces places(c.seed, Stream::lists);
  parallel::for_each(p.batch * p.heads_kv, [&](std::int64_t head) {
    const std::int64_t b = head / p.heads_kv, kv = head % p.heads_kv;
    const std::int64_t blocks = p.length_kv(b) / p.selected_block_size;
    for (std::int64_t i = 0; i < p.length_q(b); ++i) {
      const Query query{.blocks = blocks,
                        .count = p.selected_block_count,
                        .own = std::min(i / p.selected_block_size, blocks - 1),
                        .is_early = i + 1 < p.selected_block_size * p.selected_block_count,
                        .query = places.row(b, kv, i),
                        .head = places.head(b, kv),
                        .b = places.head(b, p.heads_kv)};
      List list = pattern.list(query);
      if (p.sparse_mode == 2) show_one(list, query);
      for (std::size_t k = 0; k < list.size(); ++k)
        tensor.store(at(b, kv, i, static_cast<std::int64_t>(k)), static_cast<double>(list[k]));
    }
  });
  return tensor;
}

std::optional<spec::Tensor> make_mask(const Case<Op>& c) {
  if (c.problem.atten_mask == spec::SelectedMask::absent) return std::nullopt;
  const auto call = spec::call_of(c.problem, c.entry_point, c.product, c.inputs, c.outputs);
  spec::Tensor mask = guarded_tensor(call.parameters.atten_mask);
  const bool causal = c.problem.sparse_mode == 2;
  const std::int64_t edge = mask.shape[1];
  std::vector<std::int64_t> seen;
  for (std::int64_t i = 0; i < mask.shape[0]; ++i) seen.push_back(causal ? i + 1 : edge);
  fill_ends({mask.bytes.data() + mask.offset, edge, mask.strides[0], mask.strides[1]}, seen);
  return mask;
}

}  // namespace assay::conformance
