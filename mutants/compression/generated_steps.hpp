#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compression/kernel.hpp"
#include "generated.hpp"

namespace assay::mutants::compress {

/// A kernel with a generated fault in its weights, or in a step that a derived class changes. A
/// Spot says at which elements the fault acts: "row" means a window of a sequence, and "key" a
/// token of the window. All windows share the weights, so the Spot of a weight has one sequence
/// with one row.
template <class Kernel>
class Generated : public Kernel {
 public:
  Generated(std::string name, const SummingPlan& plan, const GeneratedFault& bug)
      : Kernel(std::move(name), plan), growth_(bug) {}

 protected:
  float weight(const WindowWork& w, std::int64_t k, std::int64_t n) const override {
    return growth_(Step::weight, spot_of(w, {0, 0, 0, 0}, k, n, 1),
                   [&](const Spot& at) { return Kernel::weight(w, at.j, at.n); });
  }
  /// Returns the value of a step for a window, token k and head n, with the fault applied.
  /// `sound(window, k, n)` computes the correct value.
  template <class Sound>
  float generated_value(Step step, const WindowWork& w, const TokenWindow& window, std::int64_t k,
                        std::int64_t n, const Sound& sound) const {
    const std::int64_t rows = this->window_count(w, w.problem.length(window.b));
    return growth_(step, spot_of(w, window, k, n, rows), [&](const Spot& at) {
      const std::int64_t moved = at.i - window.index;
      const TokenWindow other = {window.b, at.i, window.token + moved * w.problem.compress_stride,
                                 window.row + moved};
      return static_cast<float>(sound(other, at.j, at.n));
    });
  }

 private:
  static Spot spot_of(const WindowWork& w, const TokenWindow& window, std::int64_t k,
                      std::int64_t n, std::int64_t rows) {
    return {.b = window.b,
            .n = n,
            .i = window.index,
            .j = k,
            .heads = w.problem.heads,
            .rows = rows,
            .keys = w.problem.compress_block_size};
  }

  Growth growth_;
};

/// Returns the generated faults in `step` and in the weights.
inline std::vector<GeneratedFault> generated_faults(Step step) {
  std::vector<GeneratedFault> bugs = generated({step}, every_change, places_of_pairs);
  append(bugs, generated({step}, every_change, {Where::rarely}));
  append(bugs, generated({Step::weight},
                         {Change::negated, Change::lost, Change::doubled, Change::coarse,
                          Change::stale, Change::of_neighbour, Change::of_other_head},
                         {Where::last_key, Where::tile_edge, Where::last_head, Where::seldom}));
  return bugs;
}

}  // namespace assay::mutants::compress
