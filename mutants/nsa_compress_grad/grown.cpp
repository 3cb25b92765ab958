#include "grown.hpp"

#include "nsa_compress_grad/families.hpp"

namespace assay::mutants::compress {

/// channel_sum: the term that a window adds to a weight gradient. weight: the factor by which a
/// token is multiplied.
enum class Step : std::uint8_t { channel_sum, weight };

}  // namespace assay::mutants::compress

namespace assay::spec {

template <>
inline constexpr auto spellings_of<mutants::compress::Step> =
    Spellings<mutants::compress::Step, 2>{{{
        {mutants::compress::Step::channel_sum, "channel_sum"},
        {mutants::compress::Step::weight, "weight"},
    }}};

}  // namespace assay::spec

namespace assay::mutants::compress {
namespace {

/// In a Spot, a row is a window of its sequence, and a key is a token of the window. A weight is
/// used by all windows, so the Spot of a weight has one sequence with one row.
class Grown : public Kernel {
 public:
  Grown(std::string name, const Plan& plan, const GrownBug<Step>& bug)
      : Kernel(std::move(name), plan), growth_(bug) {}

 protected:
  float weight(const Work& w, std::int64_t k, std::int64_t n) const override {
    const Spot spot = spot_of(w, {0, 0, 0, 0}, k, n, 1);
    return growth_(Step::weight, spot,
                   [&](const Spot& at) { return Kernel::weight(w, at.j, at.n); });
  }
  double channel_sum(const Work& w, const TokenWindow& window, std::int64_t k,
                     std::int64_t n) const override {
    const std::int64_t rows = window_count(w, w.problem.length(window.b));
    return growth_(Step::channel_sum, spot_of(w, window, k, n, rows), [&](const Spot& at) {
      const std::int64_t moved = at.i - window.index;
      const TokenWindow other = {window.b, at.i, window.token + moved * stride(w),
                                 window.row + moved};
      return static_cast<float>(Kernel::channel_sum(w, other, at.j, at.n));
    });
  }

 private:
  static Spot spot_of(const Work& w, const TokenWindow& window, std::int64_t k, std::int64_t n,
                      std::int64_t rows) {
    return {.b = window.b,
            .n = n,
            .i = window.index,
            .j = k,
            .heads = w.problem.heads,
            .rows = rows,
            .keys = w.problem.compress_block_size};
  }

  Growth<Step> growth_;
};

}  // namespace
}  // namespace assay::mutants::compress

namespace assay::mutants {

template <>
std::vector<compress::Mutant> grown_mutants<compress::Op>() {
  using compress::Step;
  std::vector<GrownBug<Step>> bugs = grown({Step::channel_sum}, every_change, places_of_pairs);
  append(bugs, grown({Step::channel_sum}, every_change, {Where::rarely}));
  append(bugs, grown({Step::weight},
                     {Change::negated, Change::lost, Change::doubled, Change::coarse, Change::stale,
                      Change::of_neighbour, Change::of_other_head},
                     {Where::last_key, Where::tile_edge, Where::last_head, Where::seldom}));
  return planted_by_turns<compress::Op, compress::Grown>("compress_", bugs,
                                                         {compress::device_like});
}

}  // namespace assay::mutants
