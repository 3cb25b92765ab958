#include <algorithm>
#include <iterator>
#include <utility>

#include "assay/conformance/operators/flash_attention_score.hpp"
#include "assay/conformance/plan/sampling.hpp"
#include "assay/mutants/kill_table.hpp"
#include "checked.hpp"
#include "flash_attention_score_grad/geometries.hpp"

namespace assay::mutants {
namespace {

using conformance::Track;
using Op = spec::FlashAttentionScore;
using Case = conformance::Case<Op>;

/// Returns an entry point that has every input of the problem.
Op::EntryPoint entry_point_of(const Op::Problem& p) {
  using enum spec::FlashForwardEntryPoint;
  if (p.input_layout != spec::Layout::tnd) return f2;
  return p.head_dim_rope > 0 ? l3 : l2;
}

/// Adds the geometries on which the mutants of the gradient are judged, in each of their types: one
/// exact case, one bound case, and the call alone. Calls that the forward's page forbids are left
/// out.
void add_geometries(std::vector<Case>& cases) {
  constexpr const char* profiles[] = {"normal", "peaked", "all_positive", "offset", "outliers"};
  std::size_t turn = 0;
  for (const Geometry& geometry : geometries())
    for (const spec::DType dtype : geometry.dtypes) {
      Case c = {.problem = geometry.problem,
                .entry_point = entry_point_of(geometry.problem),
                .inputs = geometry.inputs,
                .outputs = geometry.outputs,
                .patterns = {.mask = geometry.mask},
                .seed = turn + 1};
      c.problem.dtype = dtype;
      if (refused_by(call_of(c)) != nullptr) continue;
      for (const Track track : {Track::arguments, Track::exact, Track::bound}) {
        c.track = track;
        if (track == Track::bound) c.profile = profiles[turn++ % std::size(profiles)];
        cases.push_back(c);
      }
    }
}

}  // namespace

template <>
std::vector<Case> kill_cases() {
  std::vector<Case> cases;
  add_geometries(cases);
  std::ranges::copy_if(conformance::sample<Op>({}), std::back_inserter(cases),
                       [](const Case& c) { return !c.violate.empty() || !c.variant.empty(); });
  return cases;
}

}  // namespace assay::mutants
