#include <concepts>
#include <utility>

#include "operators/nsa_selected_attention_grad/plan/draws.hpp"
#include "operators/nsa_selected_attention_grad/plan/factors.hpp"
#include "plan/choice_values.hpp"

namespace assay::conformance::selected {
namespace {

template <std::predicate<const Categories&> Predicate>
Exclusion rule(std::string_view id, std::vector<std::size_t> factors, Predicate excludes) {
  return {id, std::move(factors),
          [excludes](const Choice& choice) { return excludes(decode(choice)); }};
}

bool is_lattice(const Categories& k) { return k.track != Track::bound; }

/// What would mean nothing.
std::vector<Exclusion> senseless() {
  return {
      rule("", {mask, mask_dtype},
           [](const Categories& k) {
             return k.mask == spec::SelectedMask::absent && k.mask_dtype != spec::DType::boolean;
           }),
      // The lattice chooses values and scale by itself; hard data with a large scale would only
      // loosen the bound.
      rule("", {track, profile},
           [](const Categories& k) { return is_lattice(k) && k.profile != "normal"; }),
      rule("", {track, scale},
           [](const Categories& k) { return is_lattice(k) && k.scale != Scale::ordinary; }),
      rule("", {profile, scale},
           [](const Categories& k) { return k.profile != "normal" && k.scale != Scale::ordinary; }),
      rule("", {dtype, profile},
           [](const Categories& k) {
             return k.profile == "subnormal_fp16" && k.dtype != spec::DType::fp16;
           }),
      // The forward masks before it scales: with such a scale it loses the mask.
      rule("", {sparse_mode, scale},
           [](const Categories& k) {
             return k.sparse_mode == 2 && (k.scale == Scale::negative || k.scale == Scale::zero);
           }),
  };
}

/// What could leave no gradient to judge, or would cost too much.
std::vector<Exclusion> fruitless() {
  return {
      rule("", {queries, profile},
           [](const Categories& k) {
             return k.queries == Queries::one && k.profile == "sparse_dy";
           }),
      // A row of the lattice attends to 1, 2, 4 or 8 entries.
      rule("", {block_count, lists, track},
           [](const Categories& k) {
             return is_lattice(k) && k.lists == "all_equal" && k.block_count > BlockCount::few;
           }),
      rule("", {lists, queries, track},
           [](const Categories& k) {
             return is_lattice(k) && k.lists == "duplicates" && k.queries == Queries::one;
           }),
      rule("", {group, heads, block_size, block_count, queries, batch},
           [](const Categories& k) { return fewest_entries(k) > most_entries(k); }),
      rule("", {heads, block_size, block_count, batch},
           [](const Categories& k) { return fewest_keys(k) > most_keys(k); }),
  };
}

std::vector<Exclusion> rows() {
  return {
      rule(spec::product_row(spec::SelectedSurface::s1, spec::Product::a3), {product},
           [](const Categories& k) {
             return !spec::supports(spec::SelectedSurface::s1, k.product);
           }),
      rule("NSAS-C33a", {sparse_mode, mask},
           [](const Categories& k) {
             return k.sparse_mode == 2 && k.mask == spec::SelectedMask::absent;
           }),
  };
}

}  // namespace

std::vector<Exclusion> exclusions() { return joined({senseless(), fruitless(), rows()}); }

const ChoiceSpace& choice_space() {
  static const ChoiceSpace space(factor_sizes(), exclusions());
  return space;
}

}  // namespace assay::conformance::selected
