#include "selection/suite.hpp"

#include "assay/conformance/case/unread_fields.hpp"
#include "assay/reference/nsa_selected_attention_grad.hpp"
#include "attention/plan/any_row.hpp"
#include "operators/nsa_selected_attention_grad/relations/relations.hpp"
#include "operators/nsa_selected_attention_grad/traits.hpp"

namespace assay::conformance {

using Op = spec::NsaSelectedAttentionGrad;

namespace selection {

/// The profiles (input distributions) of random cases. overflow_fp16 is missing, because it needs
/// special sequence lengths and is used only in hand-written cases.
Named<std::string_view> Traits<Op>::profiles() {
  return words({"normal", "peaked", "cancelling", "all_positive", "offset", "equal_values",
                "outliers", "subnormal_fp16", "large_exponent", "tiny_dy", "huge_dy", "sparse_dy"});
}

std::vector<Exclusion> Traits<Op>::fruitless() {
  using K = Categories;
  static constexpr auto is_exact = [](const K& k) { return k.track != Track::bound; };
  const auto& of = factors<Op>();
  return {
      of.rule({Why::fruitless, "A sparse dy with few rows can be all zero."},
              {"queries", "profile"},
              [](const K& k) { return k.queries == Queries::one && k.profile == "sparse_dy"; }),
      of.rule({Why::fruitless, "A row of an exact case attends to 1, 2, 4 or 8 entries."},
              {"block_count", "lists", "track"},
              [](const K& k) {
                return is_exact(k) && k.lists == "all_equal" && k.block_count > BlockCount::few;
              }),
      of.rule({Why::fruitless, "A list with duplicates needs several queries in an exact case."},
              {"lists", "queries", "track"},
              [](const K& k) {
                return is_exact(k) && k.lists == "duplicates" && k.queries == Queries::one;
              }),
  };
}

template struct SuiteOf<Op>;
template const Factors<Op, Categories>& factors<Op>();
template const ChoiceSpace& choice_space<Op>();
template const Drawn<Op, Categories>& drawn<Op>();

}  // namespace selection

template spec::Tensor make_topk_indices(const Case<Op>& c);
template std::optional<spec::Tensor> make_causal_mask(const Case<Op>& c);

template <>
std::vector<std::string> unread_fields(const Case<Op>& c) {
  return selection::unread_fields_of(c);
}

bool Suite<Op>::has_other_outputs(const Op::Problem& problem, const Op::Problem& changed,
                                  const Op::Inputs& inputs) {
  using Oracle = reference::NsaSelectedAttentionGrad<double>;
  const auto one = Oracle::from(problem, inputs), other = Oracle::from(changed, inputs);
  return attention::any_row(query_extents(problem),
                            [&](auto... at) { return one.dq_row(at...) != other.dq_row(at...); }) ||
         attention::any_row(key_extents(problem), [&](auto... at) {
           const auto row = one.dkv_row(at...), changed_row = other.dkv_row(at...);
           return row.dk != changed_row.dk || row.dv != changed_row.dv;
         });
}

}  // namespace assay::conformance
