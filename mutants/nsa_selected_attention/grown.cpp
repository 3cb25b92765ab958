#include "grown.hpp"

#include "nsa_selected_attention/families.hpp"
#include "selection/spots.hpp"

namespace assay::mutants::selected_forward {

/// The steps that a generated fault changes. value_of_output: the row of value that the output
/// accumulates for a key.
enum class Step : std::uint8_t { score, probability, softmax_max, softmax_sum, value_of_output };

}  // namespace assay::mutants::selected_forward

namespace assay::spec {

template <>
inline constexpr auto spellings_of<mutants::selected_forward::Step> =
    Spellings<mutants::selected_forward::Step, 5>{{{
        {mutants::selected_forward::Step::score, "score"},
        {mutants::selected_forward::Step::probability, "probability"},
        {mutants::selected_forward::Step::softmax_max, "softmax_max"},
        {mutants::selected_forward::Step::softmax_sum, "softmax_sum"},
        {mutants::selected_forward::Step::value_of_output, "value_of_output"},
    }}};

}  // namespace assay::spec

namespace assay::mutants::selected_forward {
namespace {

using selection::pair_of, selection::spot_of;

/// The plain kernel with a generated fault.
class Grown : public Kernel {
 public:
  Grown(std::string name, const Plan& plan, const GrownBug<Step>& bug)
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
  Growth<Step> growth_;
};

}  // namespace
}  // namespace assay::mutants::selected_forward

namespace assay::mutants {

template <>
std::vector<selected_forward::Mutant> grown_mutants<selected_forward::Op>() {
  using selected_forward::Step;
  std::vector<GrownBug<Step>> bugs =
      grown({Step::score, Step::probability}, every_change, places_of_pairs);
  append(bugs, grown({Step::score, Step::probability}, every_change, {Where::rarely}));
  append(bugs, grown({Step::softmax_max, Step::softmax_sum}, changes_of_rows, places_of_rows));
  append(bugs, grown({Step::value_of_output}, {Change::of_neighbour, Change::of_other_head},
                     places_of_pairs));
  return planted_by_turns<selected_forward::Op, selected_forward::Grown>(bugs,
                                                                         {flash_like, ascend_like});
}

}  // namespace assay::mutants
