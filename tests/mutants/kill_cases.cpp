#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "assay/mutants/kill_table.hpp"
#include "families.hpp"

namespace assay::mutants {
namespace {

using conformance::Track;
using spec::DType;
using spec::Layout;
using spec::MaskShape;
using spec::Striding;
using Case = conformance::Case<Op>;
using Problem = Op::Problem;

/// Grouped heads, incomplete tiles, a scale that is negative and not 1/sqrt(head_dim).
constexpr Problem grouped = {.input_layout = Layout::bnsd,
                             .dtype = DType::bf16,
                             .batch = 2,
                             .heads_q = 4,
                             .heads_kv = 2,
                             .seq_q = 37,
                             .seq_kv = 45,
                             .head_dim = 24,
                             .head_dim_v = 24,
                             .scale_value = -0.25};

Problem altered(Problem problem, void (*alter)(Problem& problem)) {
  alter(problem);
  return problem;
}

/// The geometries that the tracks share.
struct Geometry {
  Problem problem;
  Striding inputs = Striding::contiguous, outputs = Striding::contiguous;
  std::string mask = "random";
};

std::vector<Geometry> geometries() {
  return {
      {.problem = grouped},
      {.problem = altered(grouped,
                          [](Problem& p) {
                            p.input_layout = Layout::bsnd;
                            p.sparse_mode = 2;
                            p.atten_mask = MaskShape::compressed;
                            p.scale_value = 0.125;
                          }),
       .inputs = Striding::padded,
       .outputs = Striding::padded},
      {.problem = altered(grouped,
                          [](Problem& p) {
                            p.input_layout = Layout::sbh;
                            p.sparse_mode = 3;
                            p.atten_mask = MaskShape::compressed;
                            p.seq_q = 50, p.seq_kv = 41, p.scale_value = 0.5;
                          }),
       .outputs = Striding::transposed},
      {.problem = altered(grouped,
                          [](Problem& p) {
                            p.input_layout = Layout::bsh;
                            p.sparse_mode = 1;
                            p.atten_mask = MaskShape::bnss;
                            p.head_dim = 20, p.head_dim_v = 12, p.scale_value = 0.5;
                          }),
       .inputs = Striding::transposed,
       .outputs = Striding::padded,
       .mask = "dead_rows"},
      {.problem = altered(grouped,
                          [](Problem& p) {
                            p.input_layout = Layout::bsnd;
                            p.atten_mask = MaskShape::b_one_ss;
                            p.mask_dtype = DType::uint8;
                            p.heads_kv = 1;
                            p.head_dim_v = 20;
                          }),
       .inputs = Striding::padded,
       .outputs = Striding::transposed},
      {.problem = altered(grouped,
                          [](Problem& p) {
                            p.sparse_mode = 4;
                            p.atten_mask = MaskShape::compressed;
                            p.pre_tokens = 9, p.next_tokens = 4;
                            p.batch = 1, p.scale_value = 0.5;
                          })},
      {.problem = altered(grouped,
                          [](Problem& p) {
                            p.sparse_mode = 3;
                            p.atten_mask = MaskShape::compressed;
                            p.batch = 1, p.heads_q = 2, p.heads_kv = 2;
                            p.scale_value = 1.0;
                          }),
       .inputs = Striding::transposed},
  };
}

constexpr DType dtypes[] = {DType::bf16, DType::fp16, DType::fp32};

/// Every geometry in every type on a lattice, and on numbers of every kind by turns.
void add_exact_and_bound(std::vector<Case>& cases) {
  constexpr const char* profiles[] = {"normal",   "peaked",    "all_positive", "offset",
                                      "outliers", "sparse_dy", "cancelling"};
  std::size_t turn = 0;
  for (const Geometry& geometry : geometries())
    for (const DType dtype : dtypes) {
      Case c = {.problem = geometry.problem,
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
  Problem wide = grouped;
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
                     .inputs = geometry.inputs,
                     .outputs = geometry.outputs,
                     .track = Track::phase1});
  Problem base = grouped;
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
