#include "generated.hpp"

#include "nsa_selected_attention/families.hpp"
#include "selection/spots.hpp"

namespace assay::mutants::selected_forward {
namespace {

using selection::pair_of, selection::spot_of;

/// The plain kernel of selected attention with a generated fault.
class Generated : public Kernel {
 public:
  Generated(std::string name, const Plan& plan, const GeneratedFault& bug)
      : Kernel(std::move(name), plan), growth_(bug) {}

 protected:
  float score(const ForwardWork& w, const Pair& pair) const override {
    return growth_(Step::score, spot_of(w, pair),
                   [&](const Spot& at) { return Kernel::score(w, pair_of(w, at)); });
  }
  float probability(const ForwardWork& w, const Pair& pair, float,
                    const Softmax& row) const override {
    return growth_(Step::probability, spot_of(w, pair), [&](const Spot& at) {
      const Pair other = pair_of(w, at);
      return Kernel::probability(w, other, weight(score(w, other), row.max), row);
    });
  }
  Softmax softmax(const ForwardWork& w, Query q) const override {
    Softmax row = Kernel::softmax(w, q);
    for (const auto& [step, member] :
         {std::pair{Step::softmax_max, &Softmax::max}, std::pair{Step::softmax_sum, &Softmax::sum}})
      row.*member = growth_(step, spot_of(w, {q, 0, 0}), [&, member = member](const Spot& at) {
        return Kernel::softmax(w, {at.b, at.n, at.i}).*member;
      });
    return row;
  }
  spec::RowPosition value_row(const ForwardWork& w, const Pair& pair) const override {
    return Kernel::value_row(w, pair_of(w, growth_.place(Step::value_of_output, spot_of(w, pair))));
  }

 private:
  Growth growth_;
};

}  // namespace
}  // namespace assay::mutants::selected_forward

namespace assay::mutants {

template <>
std::vector<selected_forward::Mutant> generated_mutants<selected_forward::Op>() {
  std::vector<GeneratedFault> bugs =
      generated({Step::score, Step::probability}, every_change, places_of_pairs);
  append(bugs, generated({Step::score, Step::probability}, every_change, {Where::rarely}));
  append(bugs, generated({Step::softmax_max, Step::softmax_sum}, changes_of_rows, places_of_rows));
  append(bugs, generated({Step::value_of_output}, {Change::of_neighbour, Change::of_other_head},
                         places_of_pairs));
  return injected_by_turns<selected_forward::Op, selected_forward::Generated>(
      bugs, {flash_like, ascend_like});
}

}  // namespace assay::mutants
