#include <utility>
#include <vector>

#include "operators/nsa_selected_attention_grad/plan/draws.hpp"
#include "plan/forbidden.hpp"

namespace assay::conformance::selected {
namespace {

using K = Categories;

bool is_exact(const K& k) { return k.track != Track::bound; }

std::vector<Exclusion> senseless() {
  const auto& of = factors();
  constexpr auto why = Why::senseless;
  return {
      of.rule(
          {why, "The meaning of mode 2 without a mask is open, see NSAS-C33a."},
          {"sparse_mode", "mask"},
          [](const K& k) { return k.sparse_mode == 2 && k.mask == spec::SelectedMask::absent; }),
      of.rule({why, "The forward masks before it scales: with such a scale it loses the mask."},
              {"sparse_mode", "scale"},
              [](const K& k) {
                return k.sparse_mode == 2 && (k.scale == Scale::negative || k.scale == Scale::zero);
              }),
  };
}

std::vector<Exclusion> fruitless_and_costly() {
  const auto& of = factors();
  return {
      of.rule({Why::fruitless, "A sparse dy with few rows can be all zero."},
              {"queries", "profile"},
              [](const K& k) { return k.queries == Queries::one && k.profile == "sparse_dy"; }),
      of.rule({Why::fruitless, "A row of an exact case attends to 1, 2, 4 or 8 entries."},
              {"block_count", "lists", "track"},
              [](const K& k) {
                return is_exact(k) && k.lists == "all_equal" && k.block_count > BlockCount::few;
              }),
      of.rule({Why::fruitless, "With one query an exact case has no copies to distinguish."},
              {"lists", "queries", "track"},
              [](const K& k) {
                return is_exact(k) && k.lists == "duplicates" && k.queries == Queries::one;
              }),
      of.rule({Why::costly, "This many pairs of a query row and a listed key cost seconds."},
              {"group", "heads_kv", "block_size", "block_count", "queries", "batch"},
              [](const K& k) { return fewest_entries(k) > most_entries(k); }),
      of.rule(
          {Why::costly, "This many keys, all of which are generated and checked, cost seconds."},
          {"heads_kv", "block_size", "block_count", "batch"},
          [](const K& k) { return fewest_keys(k) > most_keys(k); }),
  };
}

}  // namespace

const ChoiceSpace& choice_space() {
  static const ChoiceSpace space = [] {
    ChoiceSpace sensible({factors().sizes(), attention::senseless(factors())}, senseless());
    const auto ask = [](const Choice& choice, std::uint64_t lot,
                        std::span<const std::string_view> among) {
      return forbidden_by(draw_case(factors().chosen(choice), 2e3, lot), among);
    };
    return ChoiceSpace(with_forbidden(std::move(sensible), {}, ask), fruitless_and_costly());
  }();
  return space;
}

}  // namespace assay::conformance::selected
