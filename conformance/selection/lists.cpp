#include "selection/lists.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "assay/parallel/loop.hpp"
#include "attention/mask_ends.hpp"
#include "inputs/input_profiles.hpp"

namespace assay::conformance {
namespace {

using spec::SelectionProblem;

using List = std::vector<std::int64_t>;

/// A sequence of random integers.
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

/// The inputs of a list pattern. A list pattern is a rule that makes the block list for one query
/// and one key head.
struct Query {
  std::int64_t blocks;    ///< number of blocks of its sequence
  std::int64_t count;     ///< number of blocks of the list
  std::int64_t own;       ///< the block at its position, or the last block
  bool is_early;          ///< the keys up to its position are fewer than the list has places for
  Random query, head, b;  ///< random stream of the query; of its head; of its sequence
};

List ascending(std::int64_t first, std::int64_t last) {
  List list(static_cast<std::size_t>(last - first));
  std::iota(list.begin(), list.end(), first);
  return list;
}

/// Returns `count` of the given blocks, in random order. If there are at least `count` blocks, each
/// occurs at most once. Otherwise, all blocks occur equally often, or their frequencies differ by
/// one. `blocks` must not be empty.
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

/// Writes `block` to index `k` of the list. If the list already contains `block`, the two entries
/// are swapped; otherwise the old entry is replaced.
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

/// Returns a list that starts with block 0, the query's own block and the block before it (as many
/// of them as the list can hold). Random blocks follow.
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

/// Returns a list with only half as many different blocks as entries, so that some blocks occur
/// more than once.
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

/// Returns a list of random blocks up to the query's own block. If there are fewer such blocks than
/// list entries, the list contains all of them in ascending order, then later blocks. For such a
/// list, a kernel that masks by the index in the list gives the same result as a kernel that masks
/// by the key position.
List causal(const Query& q) {
  if (!q.is_early) return some_of(ascending(0, q.own + 1), q.count, Lots(q.query));
  List list = ascending(0, q.own + 1);
  const List after = ascending(q.own + 1, q.blocks);
  const List later = some_of(after.empty() ? list : after, q.count - q.own - 1, Lots(q.query));
  list.insert(list.end(), later.begin(), later.end());
  return list;
}

struct NamedLists {
  std::string_view name, sentence;
  List (*list)(const Query& query);
};

constexpr NamedLists patterns[] = {
    {"shuffled",
     "each query has its own list for each key head: every block at most once, in random order",
     shuffled},
    {"identity", "every list is 0, 1, 2 and so on", identity},
    {"ascending",
     "each query has its own list for each key head: every block at most once, in ascending order",
     in_order},
    {"diagonal_first", "like shuffled, but the block at the query's position comes first",
     diagonal_first},
    {"anchored",
     "the first block, the query's own block and the block before it, then other blocks", anchored},
    {"duplicates",
     "the number of different blocks is half the number of list entries: some blocks occur several "
     "times",
     duplicates},
    {"all_equal", "all entries of a list name the same block", all_equal},
    {"last_block", "like shuffled, but the last block of the sequence is the last entry",
     last_block},
    {"per_head",
     "all queries of a key head list the same blocks; other key heads list other blocks", per_head},
    {"shared", "all queries of a sequence list the same blocks; no query lists any other block",
     shared},
    {"causal",
     "blocks up to the query's own block; if their number is below selected_block_count, the list "
     "contains all of them in ascending order, followed by later blocks",
     causal},
};

const NamedLists& pattern_of(const std::string& name) {
  for (const NamedLists& pattern : patterns)
    if (pattern.name == name) return pattern;
  throw std::invalid_argument("unknown pattern of lists '" + name + "'");
}

/// Changes the list, if necessary, so that it contains a visible block. With the causal mask, a
/// query sees the blocks that begin at or before its position.
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
    for (const NamedLists& pattern : patterns) entries.push_back({pattern.name, pattern.sentence});
    return entries;
  }();
  return named;
}

namespace selection {

spec::Tensor topk_indices(const SelectionProblem& p, const spec::Parameter& parameter,
                          const std::string& lists, std::uint64_t seed) {
  spec::Tensor tensor = guarded_tensor(parameter);
  const spec::Extents extents = topk_extents(p);
  const spec::HeadIndex at(tensor, spec::Layout::tnd, extents);
  const NamedLists& pattern = pattern_of(lists);
  const DrawnPlaces places(seed, Stream::lists);
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

std::optional<spec::Tensor> mask(const SelectionProblem& p, const spec::Parameter& parameter) {
  if (p.atten_mask == spec::SelectedMask::absent) return std::nullopt;
  spec::Tensor mask = guarded_tensor(parameter);
  const bool causal = p.sparse_mode == 2;
  const std::int64_t edge = mask.shape[1];
  std::vector<std::int64_t> seen;
  for (std::int64_t i = 0; i < mask.shape[0]; ++i) seen.push_back(causal ? i + 1 : edge);
  fill_ends({mask.bytes.data() + mask.offset, edge, mask.strides[0], mask.strides[1]}, seen);
  return mask;
}

}  // namespace selection
}  // namespace assay::conformance
