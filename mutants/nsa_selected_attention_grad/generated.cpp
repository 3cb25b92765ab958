#include "generated.hpp"

#include "nsa_selected_attention_grad/families.hpp"
#include "selection/spots.hpp"

namespace assay::mutants::selected {
namespace {

using selection::pair_of, selection::spot_of;

/// The plain gradient kernel of selected attention with a generated fault.
class Generated : public Kernel {
 public:
  Generated(std::string name, const Plan& plan, const GeneratedFault& bug)
      : Kernel(std::move(name), plan), growth_(bug) {}

 protected:
  float product(const SelectedWork& w, const Pair& pair) const override {
    return growth_(Step::product, spot_of(w, pair),
                   [&](const Spot& at) { return Kernel::product(w, pair_of(w, at)); });
  }
  float probability(const SelectedWork& w, const Pair& pair, const RowState& row) const override {
    return growth_(Step::probability, spot_of(w, pair),
                   [&](const Spot& at) { return Kernel::probability(w, pair_of(w, at), row); });
  }
  float dprobability(const SelectedWork& w, const Pair& pair) const override {
    return growth_(Step::dprobability, spot_of(w, pair),
                   [&](const Spot& at) { return Kernel::dprobability(w, pair_of(w, at)); });
  }
  float dscore(const SelectedWork& w, const Pair& pair, float prob,
               const RowState& row) const override {
    return growth_(Step::dscore, spot_of(w, pair),
                   [&](const Spot& at) { return Kernel::dscore(w, pair_of(w, at), prob, row); });
  }
  RowState row_state(const SelectedWork& w, Query q) const override {
    const auto part = [&](Step step, float RowState::*member) {
      return growth_(step, spot_of(w, {q, 0, 0}), [&](const Spot& at) {
        return Kernel::row_state(w, {at.b, at.n, at.i}).*member;
      });
    };
    return {.softmax_max = part(Step::softmax_max, &RowState::softmax_max),
            .softmax_sum = part(Step::softmax_sum, &RowState::softmax_sum),
            .row_term = part(Step::row_term, &RowState::row_term)};
  }
  spec::RowPosition scattered_row(const SelectedWork& w, const Pair& pair) const override {
    return Kernel::scattered_row(w,
                                 pair_of(w, growth_.place(Step::collecting_key, spot_of(w, pair))));
  }

 private:
  Growth growth_;
};

}  // namespace
}  // namespace assay::mutants::selected

namespace assay::mutants {

template <>
std::vector<selected::Mutant> generated_mutants<selected::Op>() {
  std::vector<GeneratedFault> bugs =
      generated({Step::product, Step::probability, Step::dprobability, Step::dscore}, every_change,
                places_of_pairs);
  append(bugs, generated({Step::product, Step::probability, Step::dscore}, every_change,
                         {Where::rarely}));
  append(bugs, generated({Step::softmax_max, Step::softmax_sum, Step::row_term}, changes_of_rows,
                         places_of_rows));
  append(bugs, generated({Step::collecting_key}, {Change::of_neighbour, Change::of_row_above},
                         places_of_pairs));
  return injected_by_turns<selected::Op, selected::Generated>(bugs, {flash_like, ascend_like});
}

}  // namespace assay::mutants
