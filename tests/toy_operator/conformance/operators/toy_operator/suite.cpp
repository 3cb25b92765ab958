#include <algorithm>
#include <string>

#include "case/limits.hpp"
#include "operators/toy_operator/relations/relations.hpp"
#include "plan/breaking_calls.hpp"
#include "plan/case_collector.hpp"
#include "plan/drawn_cases.hpp"
#include "plan/draws.hpp"
#include "plan/hand_made_cases.hpp"
#include "plan/stridings.hpp"

namespace assay::conformance {
namespace {

using Op = spec::ToyOperator;

/// The properties of one random case. EDIT: every property that a kernel may handle in a special
/// way.
struct Chosen {
  spec::DType dtype;
  bool several_heads, long_window;
  spec::Striding inputs;
  Track track;
  std::string_view profile;
};

const Factors<Op, Chosen>& factors() {
  using F = Factors<Op, Chosen>;
  static const F table({
      F::axis("dtype", &Chosen::dtype, only({spec::DType::fp16, spec::DType::bf16}),
              [](const Case<Op>& c) { return c.problem.dtype; }),
      F::axis("heads", &Chosen::several_heads, in_order<bool>({"one", "several"}),
              [](const Case<Op>& c) { return c.problem.heads > 1; }),
      F::axis("window", &Chosen::long_window, in_order<bool>({"short", "long"}),
              [](const Case<Op>& c) { return c.problem.window > 8; }),
      F::axis("inputs", &Chosen::inputs, drawn_stridings(),
              [](const Case<Op>& c) { return drawn_striding_of(c.inputs); }),
      F::drawn("track", &Chosen::track, only({Track::bound, Track::exact, Track::exact_staged})),
      F::drawn("profile", &Chosen::profile, words({"normal", "all_positive"})),
  });
  return table;
}

Case<Op> draw_case(const Chosen& k, double, std::uint64_t lot) {
  Draws draws(lot);
  Case<Op> c{.inputs = k.inputs, .outputs = k.inputs, .track = k.track, .seed = lot % 1000};
  if (k.track == Track::bound) c.profile = k.profile;
  c.problem = {.dtype = k.dtype,
               .heads = k.several_heads ? draws.integer(2, 4) : 1,
               .seq = draws.integer(24, 90),
               .head_dim = draws.integer(1, 40),
               .window = k.long_window ? draws.integer(9, 24) : draws.integer(1, 8)};
  return c;
}

const Drawn<Op, Chosen>& drawn() {
  // To exclude combinations: {factors().rule({Why::senseless, "reason"}, {"axis", "other"}, test)}.
  static const ChoiceSpace space(factors().sizes(), {});
  static const Drawn<Op, Chosen> cases{.factors = factors(),
                                       .space = space,
                                       .draw = draw_case,
                                       .completing = factors().choice({{"track", "bound"}})};
  return cases;
}

}  // namespace

std::span<const InputProfile> Suite<Op>::profiles() {
  static constexpr InputProfile all[] = {
      {"normal", "nearly normally distributed, with mean 0 and standard deviation 1"},
      {"all_positive", "uniformly distributed in [0, 1), so that no sum cancels"},
      {"negative_input", "like normal, but input is negated"},
      {"negative_weight", "like normal, but weight is negated"}};
  return all;
}

Op::Inputs Suite<Op>::draw(const Case<Op>& c) {
  constexpr ProfileValue values[] = {profile::normal, profile::all_positive,
                                     profile::negative<stream_named("input")>,
                                     profile::negative<stream_named("weight")>};
  const auto named = std::ranges::find(profiles(), c.profile, &InputProfile::name);
  return bilinear::drawn_inputs(c, values[named - profiles().begin()]);
}

std::span<const FieldRange> Suite<Op>::field_ranges() {
  static constexpr FieldRange all[] = {{"heads", 1, 64},
                                       {"seq", 1, 4096},
                                       {"head_dim", 1, 256},
                                       {"window", 1, 4096, "TOY-C05"},
                                       {"rows", 0, 4096}};
  return all;
}

void Suite<Op>::require_possible(const Case<Op>& c) {
  const auto& [dtype, heads, seq, head_dim, window] = c.problem;
  if (dtype == spec::DType::fp32) refuse("dtype", "fp32", "fp16, bf16");
  if (window > seq)
    refuse("window", std::to_string(window), "1 to seq, which is " + std::to_string(seq));
  require_relation(c, RelationParts::relations());
}

double Suite<Op>::multiply_adds(const Op::Problem& p) {
  return static_cast<double>(output_extents(p).rows() * p.head_dim * p.window);
}

const Axes* Suite<Op>::axes() {
  static const Axes all{Op::name, drawn().space, factors().axes()};
  return &all;
}

std::vector<std::size_t> Suite<Op>::choice_of(const Case<Op>& c) { return factors().read(c); }

/// Copies of random cases that check relations are a simple way to get the 200 cases with outputs
/// that a listed operator needs. EDIT: every file of hand-written cases.
void Suite<Op>::collect(const SamplingPlan& plan, CaseCollector<Op>& cases) {
  cases.add(breaking_cases<Op>({{{.problem = {.heads = 3, .window = 4}}}}));
  cases.add(hand_made_cases<Op>("corners", plan));
  cases.add(drawn().cover(plan));
  cases.add(drawn().random(plan));
  cases.add(drawn().completion(plan, cases.cases()));
}

}  // namespace assay::conformance
