#include <algorithm>
#include <cmath>
#include <cstddef>

#include "assay/conformance/lattice.hpp"
#include "assay/conformance/random.hpp"
#include "flash_attention_score_grad_factors.hpp"

namespace assay::conformance::flash {
namespace {

using Op = spec::FlashAttentionScoreGrad;

/// Draws numbers one after the other.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : random_(stream(seed, Stream::sampling)) {}
  std::int64_t integer(std::int64_t first, std::int64_t last) {
    return random_.integer(index_++, first, std::max(first, last));
  }
  template <class Value, std::size_t count>
  Value one_of(const Value (&values)[count]) {
    return values[integer(0, static_cast<std::int64_t>(count) - 1)];
  }
  /// 2 to `limit`, half of the time beside a multiple of a tile size.
  std::int64_t length(std::int64_t limit) {
    const std::int64_t tile = one_of({16, 64, 128, 512});
    if (tile - 1 > limit || integer(0, 1) == 0) return integer(2, limit);
    return std::clamp<std::int64_t>(tile * integer(1, (limit + 1) / tile) + integer(-1, 1), 2,
                                    std::max<std::int64_t>(limit, 2));
  }

 private:
  Random random_;
  std::uint64_t index_ = 0;
};

/// Longest sequence that keeps a square problem within `budget` multiply-adds; a pair costs the
/// judge something at any head size.
std::int64_t longest(const Op::Problem& p, double budget) {
  constexpr std::int64_t pair_cost = 48;
  const double each = static_cast<double>(p.batch * p.heads_q * (p.head_dim + pair_cost));
  return std::max<std::int64_t>(8, static_cast<std::int64_t>(std::sqrt(budget / each)));
}

void draw_lengths(Op::Problem& p, Lengths lengths, std::int64_t limit, Draws& draws) {
  constexpr std::int64_t longest_alone = 700;
  const std::int64_t alone = std::min(limit * limit, longest_alone);
  const std::int64_t some = draws.length(limit);
  switch (lengths) {
    case Lengths::equal:
      p.seq_q = p.seq_kv = some;
      break;
    case Lengths::shorter_q:
      p.seq_kv = some + draws.integer(1, limit);
      p.seq_q = some;
      break;
    case Lengths::longer_q:
      p.seq_q = some + draws.integer(1, limit);
      p.seq_kv = some;
      break;
    case Lengths::one_query:
      p.seq_q = 1;
      p.seq_kv = draws.length(alone);
      break;
    case Lengths::one_key:
      p.seq_q = draws.length(alone);
      p.seq_kv = 1;
      break;
    case Lengths::tile_edges: {
      const std::int64_t tiles = std::max<std::int64_t>(1, limit / 16);
      p.seq_q = 16 * draws.integer(1, tiles) + draws.one_of({-1, 1});
      p.seq_kv = 16 * draws.integer(1, tiles) + draws.one_of({-1, 0, 1});
      break;
    }
  }
}

void draw_window(Op::Problem& p, Window window, Draws& draws) {
  const std::int64_t shorter = std::min(p.seq_q, p.seq_kv);
  const std::int64_t inside = draws.integer(1, std::max<std::int64_t>(1, shorter / 4));
  switch (window) {
    case Window::unbounded:
      break;
    case Window::causal:
      p.pre_tokens = std::max(p.seq_q, p.seq_kv);
      p.next_tokens = 0;
      break;
    case Window::band:
      p.pre_tokens = draws.integer(0, shorter / 2);
      p.next_tokens = draws.integer(0, shorter / 3);
      break;
    case Window::negative_next:
      p.next_tokens = -inside;
      break;
    case Window::negative_pre:
      p.pre_tokens = -inside;
      break;
    case Window::ignored:
      p.pre_tokens = draws.integer(-3, 3);
      p.next_tokens = draws.integer(-3, 3);
      break;
  }
}

double scale_of(Scale scale, std::int64_t head_dim) {
  switch (scale) {
    case Scale::ordinary:
      return ordinary_scale(head_dim);
    case Scale::negative:
      return -ordinary_scale(head_dim);
    case Scale::one:
      return 1.0;
    case Scale::odd:
      return static_cast<double>(static_cast<float>(0.7 * ordinary_scale(head_dim)));
    case Scale::zero:
      return 0.0;
  }
  return 1.0;
}

/// Whether the user's mask of `c` keeps a pair at all, where chance could exclude them all.
bool keeps_a_pair(const FlashCase& c) {
  constexpr std::int64_t few = 4096;
  if (c.problem.atten_mask == spec::MaskShape::compressed ||
      c.problem.seq_q * c.problem.seq_kv > few)
    return true;
  const auto mask = make_mask(c);
  if (!mask) return true;
  return std::ranges::any_of(viewed_elements(*mask),
                             [&](std::int64_t element) { return mask->load(element) == 0; });
}

FlashCase draw_case(const Categories& k, double budget, std::uint64_t seed) {
  Draws draws(seed);
  FlashCase c{.surface = k.surface,
              .product = k.product,
              .inputs = k.inputs,
              .outputs = k.outputs,
              .track = k.track,
              .profile = std::string(k.profile),
              .mask = std::string(k.pattern)};
  Op::Problem& p = c.problem;
  p = {.input_layout = k.layout,
       .dtype = k.dtype,
       .heads_q = k.heads.q,
       .heads_kv = k.heads.kv,
       .head_dim = k.head_dim,
       .head_dim_v = k.head_dim,
       .sparse_mode = k.masking.sparse_mode,
       .atten_mask = k.masking.shape,
       .mask_dtype = k.mask_dtype};
  p.batch = k.masking.shape == spec::MaskShape::b_one_ss ? 2 : draws.one_of({1, 1, 2, 3});
  if (k.narrow_value)
    p.head_dim_v =
        draws.one_of({1, 2}) == 1 ? draws.integer(1, k.head_dim - 1) : (2 * k.head_dim + 2) / 3;
  draw_lengths(p, k.lengths, longest(p, budget), draws);
  draw_window(p, k.window, draws);
  p.scale_value = scale_of(k.scale, p.head_dim);
  if (k.track != Track::bound) p.scale_value = lattice_scale(p, seed);
  do c.seed = static_cast<std::uint64_t>(draws.integer(1, 999999));
  while (!keeps_a_pair(c));
  return c;
}

}  // namespace

double ordinary_scale(std::int64_t head_dim) {
  return static_cast<double>(static_cast<float>(1.0 / std::sqrt(static_cast<double>(head_dim))));
}

double multiply_adds(const Op::Problem& p) {
  return static_cast<double>(p.batch * p.heads_q * p.head_dim) * static_cast<double>(p.seq_q) *
         static_cast<double>(p.seq_kv);
}

std::vector<FlashCase> cover_cases(std::uint64_t seed) {
  constexpr double budgets[] = {2e5, 1e6, 3e6};
  std::vector<FlashCase> cases;
  const std::uint64_t lots = stream(seed, Stream::sampling).bits(0);
  for (const Choice& choice : pairwise_cover(category_sizes(), admissible_categories, lots))
    cases.push_back(draw_case(decode(choice), budgets[cases.size() % 3], lots + cases.size()));
  return cases;
}

std::vector<FlashCase> random_cases(std::uint64_t seed, std::int64_t count) {
  constexpr double budgets[] = {5e5, 2e6, 8e6, 2e7};
  std::vector<FlashCase> cases;
  const std::uint64_t lots = stream(seed, Stream::sampling).bits(1);
  for (std::int64_t k = 0; k < count; ++k) {
    const auto lot = lots + static_cast<std::uint64_t>(k);
    const Choice choice = random_choice(category_sizes(), admissible_categories, lot);
    cases.push_back(draw_case(decode(choice), budgets[k % 4], lot));
  }
  return cases;
}

}  // namespace assay::conformance::flash
