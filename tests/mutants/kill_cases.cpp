#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "assay/mutants/kill_table.hpp"
#include "families.hpp"
#include "geometries.hpp"

namespace assay::mutants {
namespace {

using conformance::Track;
using spec::DType;
using spec::Layout;
using spec::MaskShape;
using spec::Striding;
using Case = conformance::Case<Op>;
using Problem = Op::Problem;

/// Every geometry in its types on a lattice, and on numbers of every kind by turns.
void add_exact_and_bound(std::vector<Case>& cases) {
  constexpr const char* profiles[] = {"normal",   "peaked",    "all_positive", "offset",
                                      "outliers", "sparse_dy", "cancelling"};
  std::size_t turn = 0;
  for (const Geometry& geometry : geometries())
    for (const DType dtype : geometry.dtypes) {
      Case c = {.problem = geometry.problem,
                .surface = geometry.surface,
                .inputs = geometry.inputs,
                .outputs = geometry.outputs,
                .mask = geometry.mask,
                .seed = turn + 1};
      c.problem.dtype = dtype;
      c.track = Track::a1;
      cases.push_back(c);
      c.track = Track::bound;
      c.profile = profiles[turn++ % std::size(profiles)];
      cases.push_back(std::move(c));
    }
}

/// Staging rounds where dS has more bits than the type, for which it needs many channels.
void add_rounded_staging(std::vector<Case>& cases) {
  Problem wide = geometries().front().problem;
  wide.batch = 1, wide.heads_q = 2, wide.heads_kv = 1;
  wide.head_dim = wide.head_dim_v = 80;
  Problem causal = wide;
  causal.sparse_mode = 2;
  causal.atten_mask = MaskShape::compressed;
  for (const Problem& problem : {wide, causal})
    for (const DType dtype : {DType::bf16, DType::fp16}) {
      Case c = {.problem = problem, .track = Track::a2, .seed = cases.size()};
      c.problem.dtype = dtype;
      cases.push_back(std::move(c));
    }
}

/// Calls that are legal, and one for every way to break a row that the argument specimens know.
std::vector<Case> argument_cases() {
  std::vector<Case> cases;
  for (const Geometry& geometry : geometries())
    cases.push_back({.problem = geometry.problem,
                     .surface = geometry.surface,
                     .inputs = geometry.inputs,
                     .outputs = geometry.outputs,
                     .track = Track::phase1});
  Problem base = geometries().front().problem;
  base.atten_mask = MaskShape::b_one_ss;
  const std::vector<std::string> known = checked_rows();
  for (const auto& row : Op::constraints()) {
    if (std::ranges::find(known, row.id) == known.end()) continue;
    for (const auto& violation : row.violations)
      cases.push_back({.problem = base,
                       .track = Track::phase1,
                       .violate = std::string(row.id) + ":" + std::string(violation.name)});
  }
  return cases;
}

}  // namespace

std::vector<Case> kill_cases() {
  std::vector<Case> cases;
  add_exact_and_bound(cases);
  add_rounded_staging(cases);
  std::ranges::move(argument_cases(), std::back_inserter(cases));
  return cases;
}

}  // namespace assay::mutants
