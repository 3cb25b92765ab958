#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bilinear/profiles.hpp"
#include "bilinear/traits.hpp"
#include "plan/drawn_cases.hpp"
#include "plan/draws.hpp"
#include "plan/factors.hpp"
#include "plan/stridings.hpp"

/// The random cases of an operator with sums of products, from the fields that its Traits list.
namespace assay::conformance::bilinear {

/// The values of all factors of one random case.
struct Chosen {
  spec::DType dtype;
  std::vector<std::size_t> groups;  ///< of values, one for each field; missing ones are 0
  spec::Striding inputs;
  Track track;
  std::string_view profile;

  std::size_t group(std::size_t field) const { return field < groups.size() ? groups[field] : 0; }
};

/// Returns the name of an integer field of a problem. Errors: std::logic_error if visit_fields does
/// not list the field.
template <class Problem>
std::string_view name_of(std::int64_t Problem::*member) {
  const Problem problem;
  std::string_view found;
  visit_fields(problem, [&](std::string_view name, const auto& field, std::string_view) {
    if (static_cast<const void*>(&field) == &(problem.*member)) found = name;
  });
  if (found.empty()) throw std::logic_error("a field of a problem is not listed in visit_fields");
  return found;
}

/// Returns field number `index` as a factor.
template <class Op>
typename Factors<Op, Chosen>::Factor field_factor(std::size_t index) {
  const auto& field = Traits<Op>::fields[index];
  typename Factors<Op, Chosen>::Factor factor{.name = name_of(field.member)};
  for (const Values& values : field.drawn()) factor.values.push_back(values.name);
  factor.write = [index](Chosen& chosen, std::size_t value) {
    if (chosen.groups.size() <= index) chosen.groups.resize(index + 1);
    chosen.groups[index] = value;
  };
  factor.read = [&field](const Case<Op>& c) { return field.group_of(c.problem.*field.member); };
  return factor;
}

template <class Op>
const Factors<Op, Chosen>& factors() {
  using F = Factors<Op, Chosen>;
  static const F table = [] {
    std::vector<typename F::Factor> all = {
        F::axis("dtype", &Chosen::dtype, only({spec::DType::fp16, spec::DType::bf16}),
                [](const Case<Op>& c) { return c.problem.dtype; })};
    for (std::size_t k = 0; k < std::size(Traits<Op>::fields); ++k)
      if (Traits<Op>::fields[k].drawn().size() > 1) all.push_back(field_factor<Op>(k));
    all.push_back(F::axis("inputs", &Chosen::inputs, drawn_stridings(),
                          [](const Case<Op>& c) { return drawn_striding_of(c.inputs); }));
    all.push_back(
        F::drawn("track", &Chosen::track, only({Track::bound, Track::exact, Track::exact_staged})));
    all.push_back(F::drawn("profile", &Chosen::profile, words(drawn_profiles<Op>())));
    return F(std::move(all));
  }();
  return table;
}

template <class Op>
Case<Op> draw_case(const Chosen& k, double, std::uint64_t lot) {
  Draws draws(lot);
  Case<Op> c{.inputs = k.inputs, .outputs = k.inputs, .track = k.track, .seed = lot % 1000};
  if (k.track == Track::bound) c.profile = k.profile;
  c.problem.dtype = k.dtype;
  for (std::size_t f = 0; f < std::size(Traits<Op>::fields); ++f) {
    const auto& field = Traits<Op>::fields[f];
    const Values& values = field.groups[k.group(f)];
    c.problem.*field.member =
        values.first + values.step * draws.integer(0, (values.last - values.first) / values.step);
  }
  return c;
}

template <class Op>
const Drawn<Op, Chosen>& drawn() {
  static const ChoiceSpace space(factors<Op>().sizes(), {});
  static const Drawn<Op, Chosen> cases{.factors = factors<Op>(),
                                       .space = space,
                                       .draw = draw_case<Op>,
                                       .completing = factors<Op>().choice({{"track", "bound"}})};
  return cases;
}

}  // namespace assay::conformance::bilinear
