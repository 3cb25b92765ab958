#include "operators/sparse_flash_attention_grad/lists.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#include "assay/spec/at.hpp"
#include "inputs/input_profiles.hpp"
#include "inputs/packed_rows.hpp"
#include "operators/sparse_flash_attention_grad/key_pattern.hpp"

namespace assay::conformance::sparse_flash {
namespace {

using List = std::vector<std::int64_t>;
using spec::at;

List first_blocks(std::int64_t count) {
  List list(at(count));
  std::iota(list.begin(), list.end(), 0);
  return list;
}

/// Returns some of the blocks that the query sees, in random order.
List some_blocks(const Seen& seen, const Random& random) {
  List list = first_blocks(seen.blocks);
  for (std::int64_t k = 0; k < seen.used; ++k)
    std::swap(list[at(k)],
              list[at(random.integer(static_cast<std::uint64_t>(k), k, seen.blocks - 1))]);
  list.resize(at(seen.used));
  return list;
}

List shuffled(const Seen& seen, const Random& random) { return some_blocks(seen, random); }
List ascending(const Seen& seen, const Random& random) {
  List list = some_blocks(seen, random);
  std::ranges::sort(list);
  return list;
}
List descending(const Seen& seen, const Random& random) {
  List list = some_blocks(seen, random);
  std::ranges::sort(list, std::greater());
  return list;
}
List first(const Seen& seen, const Random&) { return first_blocks(seen.used); }
List recent(const Seen& seen, const Random&) {
  List list = first_blocks(seen.used);
  for (std::int64_t& block : list) block += seen.blocks - seen.used;
  return list;
}
/// Returns the last blocks that the query sees, but replaces one of them by block 0. Models with an
/// attention sink and a sliding window use such lists.
List sink(const Seen& seen, const Random& random) {
  List list = recent(seen, random);
  if (!list.empty()) list.front() = 0;
  return list;
}

struct NamedLists {
  std::string_view name, sentence;
  List (*list)(const Seen& seen, const Random& random);
};
constexpr NamedLists patterns[] = {
    {"shuffled", "each token has its own list: different visible blocks in random order", shuffled},
    {"ascending", "the same blocks as shuffled, in ascending order", ascending},
    {"descending", "the same blocks as shuffled, in descending order", descending},
    {"first", "all tokens list the first blocks of their sequence", first},
    {"recent", "each token lists the last blocks that it sees", recent},
    {"sink", "each token lists the first block and the last blocks that it sees", sink},
};

}  // namespace

std::span<const InputProfile> list_patterns() {
  static const auto named = [] {
    std::vector<InputProfile> entries;
    for (const NamedLists& pattern : patterns) entries.push_back({pattern.name, pattern.sentence});
    return entries;
  }();
  return named;
}

spec::Tensor make_lists(const Case<spec::SparseFlashAttentionGrad>& c) {
  const Problem& p = c.problem;
  const auto pattern = std::ranges::find(patterns, c.patterns.lists, &NamedLists::name);
  const DrawnPlaces places(c.seed, Stream::lists);
  std::vector<double> entries;
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t s = 0; s < p.length_q(b); ++s) {
      const Seen seen = seen_by(p, b, s);
      List list = pattern->list(seen, places.row(b, 0, s));
      // If the last block is incomplete, it must be the last entry of its list.
      const auto last = std::ranges::find(list, seen.blocks - 1);
      if (seen.keys % p.sparse_block_size != 0 && last != list.end())
        std::rotate(last, last + 1, list.end());
      list.resize(at(p.sparse_block_count), -1);
      entries.insert(entries.end(), list.begin(), list.end());
    }
  const auto call = spec::call_of(p, c.entry_point, c.product, c.inputs, c.outputs);
  return head_tensor(call.parameters.sparse_indices, p.layout, sparse_indices_extents(p), entries);
}

}  // namespace assay::conformance::sparse_flash
