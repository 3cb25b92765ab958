#include "generated.hpp"

#include <algorithm>

#include "sparse_flash_attention_grad/kernel.hpp"

namespace assay::mutants {
namespace sparse_flash {
namespace {

/// The plain kernel with a generated fault. Numbers the keys of a row in the order of its list:
/// entry by entry, and key by key in each block.
class Generated : public Kernel {
 public:
  Generated(std::string name, const Plan& plan, const GeneratedFault& bug)
      : Kernel(std::move(name), plan), growth_(bug) {}

 protected:
  float product(const SparseWork& w, const Pair& pair) const override {
    return growth_(Step::product, spot_of(w, pair),
                   [&](const Spot& at) { return Kernel::product(w, pair_of(w, pair, at)); });
  }
  float probability(const SparseWork& w, const Pair& pair) const override {
    return growth_(Step::probability, spot_of(w, pair),
                   [&](const Spot& at) { return Kernel::probability(w, pair_of(w, pair, at)); });
  }
  float dprobability(const SparseWork& w, const Pair& pair) const override {
    return growth_(Step::dprobability, spot_of(w, pair),
                   [&](const Spot& at) { return Kernel::dprobability(w, pair_of(w, pair, at)); });
  }
  float dscore(const SparseWork& w, const Pair& pair, float prob) const override {
    return growth_(Step::dscore, spot_of(w, pair),
                   [&](const Spot& at) { return Kernel::dscore(w, pair_of(w, pair, at), prob); });
  }
  float softmax_max(const SparseWork& w, const Query& q) const override {
    return of_row(Step::softmax_max, w, q,
                  [&](const Query& at) { return Kernel::softmax_max(w, at); });
  }
  float softmax_sum(const SparseWork& w, const Query& q) const override {
    return of_row(Step::softmax_sum, w, q,
                  [&](const Query& at) { return Kernel::softmax_sum(w, at); });
  }
  float row_term(const SparseWork& w, const Query& q) const override {
    return of_row(Step::row_term, w, q, [&](const Query& at) { return Kernel::row_term(w, at); });
  }
  void add_to_key(SparseWork& w, const Pair& pair, float ds, float prob) const override {
    const Spot at = growth_.place(Step::collecting_key, spot_of(w, pair));
    Pair moved = pair;
    moved.key = pair_of(w, pair, at).key;
    Kernel::add_to_key(w, moved, ds, prob);
  }

 private:
  /// Returns how many visible keys the list of a token contains.
  std::int64_t listed(const SparseWork& w, const Query& q) const {
    const std::int64_t size = w.problem.sparse_block_size, last = used(w, q.b, q.i) - 1;
    if (last < 0) return 0;
    return last * size + std::clamp<std::int64_t>(
                             visible(w, q.b, q.i) - block(w, q.b, q.i, last) * size, 0, size);
  }
  Spot spot_of(const SparseWork& w, const Pair& pair) const {
    const std::int64_t size = w.problem.sparse_block_size;
    return {.b = pair.q.b,
            .n = pair.q.n,
            .i = pair.q.i,
            .j = pair.slot * size + pair.key % size,
            .heads = w.problem.heads_q,
            .rows = w.problem.length_q(pair.q.b),
            .keys = listed(w, pair.q)};
  }
  /// Returns the pair at the coordinates `spot`, which may be in another row. The list of that row
  /// may contain fewer keys.
  Pair pair_of(const SparseWork& w, const Pair& pair, const Spot& spot) const {
    const std::int64_t size = w.problem.sparse_block_size;
    const Query q{spot.b, spot.n, spot.i};
    const std::int64_t keys = listed(w, q);
    if (keys == 0) return pair;
    const std::int64_t j = std::min(spot.j, keys - 1);
    return {q, j / size, position(w, q, j / size, j % size)};
  }
  template <class Sound>
  float of_row(Step step, const SparseWork& w, const Query& q, const Sound& sound) const {
    const Spot at{.b = q.b,
                  .n = q.n,
                  .i = q.i,
                  .j = 0,
                  .heads = w.problem.heads_q,
                  .rows = w.problem.length_q(q.b),
                  .keys = 1};
    return growth_(step, at, [&](const Spot& from) { return sound({from.b, from.n, from.i}); });
  }

  Growth growth_;
};

}  // namespace
}  // namespace sparse_flash

template <>
std::vector<MutantOf<spec::SparseFlashAttentionGrad>> generated_mutants() {
  std::vector<GeneratedFault> bugs =
      generated({Step::product, Step::probability, Step::dprobability, Step::dscore}, every_change,
                places_of_pairs);
  append(bugs, generated({Step::product, Step::probability, Step::dscore}, every_change,
                         {Where::rarely}));
  append(bugs, generated({Step::softmax_max, Step::softmax_sum, Step::row_term}, changes_of_rows,
                         places_of_rows));
  append(bugs, generated({Step::collecting_key}, {Change::of_neighbour, Change::of_row_above},
                         places_of_pairs));
  return injected_by_turns<spec::SparseFlashAttentionGrad, sparse_flash::Generated>(
      bugs, {flash_like, ascend_like});
}

}  // namespace assay::mutants
