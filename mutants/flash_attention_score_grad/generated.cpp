#include "generated.hpp"

#include "flash_attention_score_grad/families.hpp"

namespace assay::mutants {
namespace {

Spot spot_of(const AttentionWork& w, Query q, std::int64_t j) {
  return {.b = q.b,
          .n = q.n,
          .i = q.i,
          .j = j,
          .heads = w.problem.heads_q,
          .rows = w.problem.length_q(q.b),
          .keys = w.problem.length_kv(q.b)};
}

Query query_of(const Spot& spot) { return {spot.b, spot.n, spot.i}; }

/// The plain gradient kernel with a generated fault.
class Generated : public Kernel {
 public:
  Generated(std::string name, const Plan& plan, const GeneratedFault& bug)
      : Kernel(std::move(name), plan), growth_(bug) {}

 protected:
  float product(const AttentionWork& w, Query q, std::int64_t j) const override {
    return growth_(Step::product, spot_of(w, q, j),
                   [&](const Spot& at) { return Kernel::product(w, query_of(at), at.j); });
  }
  float probability(const AttentionWork& w, Query q, std::int64_t j,
                    const RowState& row) const override {
    return growth_(Step::probability, spot_of(w, q, j),
                   [&](const Spot& at) { return Kernel::probability(w, query_of(at), at.j, row); });
  }
  float dropped(const AttentionWork& w, Query q, std::int64_t j, float prob) const override {
    return growth_(Step::dropped, spot_of(w, q, j),
                   [&](const Spot& at) { return Kernel::dropped(w, query_of(at), at.j, prob); });
  }
  float dprobability(const AttentionWork& w, Query q, std::int64_t j) const override {
    return growth_(Step::dprobability, spot_of(w, q, j),
                   [&](const Spot& at) { return Kernel::dprobability(w, query_of(at), at.j); });
  }
  float dscore(const AttentionWork& w, Query q, std::int64_t j, float prob,
               const RowState& row) const override {
    return growth_(Step::dscore, spot_of(w, q, j), [&](const Spot& at) {
      return Kernel::dscore(w, query_of(at), at.j, prob, row);
    });
  }
  RowState row_state(const AttentionWork& w, Query q) const override {
    return generated_row(w, q, [&](Query at) { return Kernel::row_state(w, at); });
  }
  std::span<const float> collected(const AttentionWork& w, Gradient which, Query q,
                                   std::int64_t j) const override {
    const Step step = which == Gradient::dq   ? Step::key_of_dq
                      : which == Gradient::dk ? Step::query_of_dk
                                              : Step::dy_of_dv;
    if (which == Gradient::dq_rope || which == Gradient::dk_rope)
      return Kernel::collected(w, which, q, j);
    const Spot at = place(step, w, q, j);
    return Kernel::collected(w, which, query_of(at), at.j);
  }

  /// Returns the statistics of a row, with the fault applied. `sound(query)` computes the correct
  /// statistics.
  template <class Sound>
  RowState generated_row(const AttentionWork& w, Query q, const Sound& sound) const {
    const auto part = [&](Step step, float RowState::*member) {
      return growth_(step, spot_of(w, q, 0),
                     [&](const Spot& at) { return sound(query_of(at)).*member; });
    };
    return {.softmax_max = part(Step::softmax_max, &RowState::softmax_max),
            .softmax_sum = part(Step::softmax_sum, &RowState::softmax_sum),
            .row_term = part(Step::row_term, &RowState::row_term)};
  }
  /// Returns the position whose row the step uses. Without the fault, this is the pair (q, j).
  Spot place(Step step, const AttentionWork& w, Query q, std::int64_t j) const {
    return growth_.place(step, spot_of(w, q, j));
  }

 private:
  Growth growth_;
};

/// The plain gradient kernel with a generated fault in its forward steps.
class GeneratedForward : public Generated {
 public:
  using Generated::Generated;

 protected:
  RowState forward_statistics(const AttentionWork& w, Query q) const override {
    return generated_row(w, q, [&](Query at) { return Kernel::forward_statistics(w, at); });
  }
  std::span<const float> value_row(const AttentionWork& w, Query q, std::int64_t j) const override {
    const Spot at = place(Step::value_of_output, w, q, j);
    return Kernel::value_row(w, query_of(at), at.j);
  }
};

}  // namespace

std::vector<Mutant> generated_forward_mutants() {
  std::vector<GeneratedFault> bugs =
      generated({Step::product, Step::probability, Step::dropped}, every_change, places_of_pairs);
  append(bugs, generated({Step::product, Step::probability}, every_change, {Where::rarely}));
  append(bugs, generated({Step::softmax_max, Step::softmax_sum}, changes_of_rows, places_of_rows));
  append(bugs, generated({Step::value_of_output}, {Change::of_neighbour, Change::of_other_head},
                         places_of_pairs));
  return injected_by_turns<Op, GeneratedForward>(bugs, {flash_like, ascend_like});
}

template <>
std::vector<Mutant> generated_mutants() {
  std::vector<GeneratedFault> bugs =
      generated({Step::product, Step::probability, Step::dropped, Step::dprobability, Step::dscore},
                every_change, places_of_pairs);
  append(bugs, generated({Step::product, Step::probability, Step::dscore}, every_change,
                         {Where::rarely}));
  append(bugs, generated({Step::softmax_max, Step::softmax_sum, Step::row_term}, changes_of_rows,
                         places_of_rows));
  append(bugs, generated({Step::key_of_dq}, {Change::of_neighbour}, places_of_pairs));
  append(bugs, generated({Step::query_of_dk, Step::dy_of_dv},
                         {Change::of_row_above, Change::of_other_head}, places_of_pairs));
  return injected_by_turns<Op, Generated>(bugs, {flash_like, ascend_like});
}

}  // namespace assay::mutants
