#include "operators/nsa_selected_attention_grad/plan/draws.hpp"

namespace assay::conformance::selected {
namespace {

/// What the cases differ in, beside type, track and mode.
struct Geometry {
  const char* lists;
  std::int64_t block_size, block_count, more_blocks;
  std::int64_t heads_q, heads_kv, seq_q;
};

constexpr Geometry geometries[] = {
    {"shuffled", 16, 4, 2, 4, 2, 21},       {"identity", 32, 3, 0, 3, 1, 33},
    {"duplicates", 16, 6, 1, 2, 2, 19},     {"all_equal", 48, 4, 0, 2, 1, 17},
    {"diagonal_first", 64, 2, 1, 4, 1, 66}, {"anchored", 16, 16, 4, 2, 2, 9},
    {"causal", 16, 5, 3, 4, 4, 83},         {"per_head", 80, 2, 2, 2, 2, 12},
    {"shared", 112, 1, 3, 17, 1, 5},        {"last_block", 16, 32, 0, 1, 1, 24},
    {"ascending", 128, 8, 1, 1, 1, 6},
};

SelectedCase case_of(const Geometry& g, std::size_t turn) {
  SelectedCase c{.patterns = {.lists = g.lists}};
  c.problem = {.batch = 1,
               .heads_q = g.heads_q,
               .heads_kv = g.heads_kv,
               .seq_q = g.seq_q,
               .seq_kv = g.block_size * (g.block_count + g.more_blocks),
               .head_dim = turn % 3 == 2 ? 128 : 192,
               .head_dim_v = turn % 3 == 0 ? 192 : 128,
               .selected_block_size = g.block_size,
               .selected_block_count = g.block_count};
  if (turn % 2 == 1)
    set_lengths(c.problem, {g.seq_q, 1 + g.seq_q / 2},
                {c.problem.seq_kv, c.problem.seq_kv + g.block_size});
  return c;
}

}  // namespace

std::vector<SelectedCase> lattice_cases(std::uint64_t seed) {
  std::vector<SelectedCase> cases;
  for (const Track track : {Track::a1, Track::a2})
    for (const auto dtype : {spec::DType::fp16, spec::DType::bf16})
      for (const Geometry& geometry : geometries) {
        const std::size_t turn = cases.size();
        SelectedCase c = case_of(geometry, turn);
        c.track = track;
        c.seed = seed + turn;
        Op::Problem& p = c.problem;
        p.dtype = dtype;
        // Every geometry meets the mask in two of its four cases.
        if ((turn / std::size(geometries) + turn) % 2 == 0) {
          p.sparse_mode = 2;
          p.atten_mask = spec::SelectedMask::compressed;
        }
        p.scale_value = exact_scale(p, c.seed);
        cases.push_back(std::move(c));
      }
  return cases;
}

}  // namespace assay::conformance::selected
