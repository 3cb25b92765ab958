#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "operators/flash_attention_score_grad/plan/sampling.hpp"
#include "plan/model_entries.hpp"

namespace assay::conformance::flash {
namespace {

using Op = spec::FlashAttentionScoreGrad;

/// Floating-point operations. As many key heads are kept as stay below `wanted`, and one in any
/// case.
struct Budget {
  double wanted, limit, limit_of_all;
};
constexpr Budget cut_budget = {1e9, 5e10, 5e11}, whole_budget = {3e11, 1e12, 1e13};

constexpr std::int64_t rows_judged = 16;

/// A backward pass makes five products of two operations each; a causal one half of that.
double flop(const Op::Problem& p) {
  return 10 * multiply_adds(p) * (p.sparse_mode == 0 ? 1.0 : 0.5);
}

struct Shape {
  std::string name, without;
  Op::Problem whole;
};

Shape read_shape(const nlohmann::json& entry) {
  Shape shape{.name = entry.at("name"), .without = entry.value("without", ""), .whole = {}};
  Op::Problem& p = shape.whole;
  const auto dtype = spec::spellings_of<spec::DType>.parse(entry.at("dtype").get<std::string>());
  if (!dtype) throw std::logic_error("model_shapes.json: unknown dtype of " + shape.name);
  p.dtype = *dtype;
  p.heads_q = entry.at("heads_q");
  p.heads_kv = entry.at("heads_kv");
  p.seq_q = entry.at("seq_q");
  p.seq_kv = entry.value("seq_kv", p.seq_q);
  p.head_dim = entry.at("head_dim");
  p.head_dim_v = entry.value("head_dim_v", p.head_dim);
  p.scale_value = entry.value("scale", ordinary_scale(p.head_dim));
  if (entry.at("causal").get<bool>()) {
    p.sparse_mode = 2;
    p.atten_mask = spec::MaskShape::compressed;
  }
  return shape;
}

std::string note_of(const Shape& shape, const Op::Problem& kept) {
  std::string note = shape.name + ": batch 1";
  const auto part = [](std::int64_t some, std::int64_t all, const char* what) {
    return std::to_string(some) + " of " + std::to_string(all) + " " + what;
  };
  if (kept.heads_kv != shape.whole.heads_kv)
    note += ", " + part(kept.heads_kv, shape.whole.heads_kv, "kv heads") + " (" +
            part(kept.heads_q, shape.whole.heads_q, "query heads") + ")";
  if (kept.seq_q != shape.whole.seq_q)
    note += ", " + part(kept.seq_q, shape.whole.seq_q, "query tokens");
  if (kept.seq_kv != shape.whole.seq_kv)
    note += ", " + part(kept.seq_kv, shape.whole.seq_kv, "key tokens");
  note += ", " + std::to_string(rows_judged) + " rows of each head judged";
  if (!shape.without.empty()) note += ", without " + shape.without;
  return note;
}

/// As many key heads with all their queries as the budget allows.
Op::Problem within(const Budget& budget, const Op::Problem& whole) {
  Op::Problem p = whole;
  const double per_kv_head = flop(whole) / static_cast<double>(whole.heads_kv);
  p.heads_kv = std::clamp<std::int64_t>(static_cast<std::int64_t>(budget.wanted / per_kv_head), 1,
                                        whole.heads_kv);
  p.heads_q = p.heads_kv * whole.group();
  return p;
}

}  // namespace

std::vector<FlashCase> model_cases(ModelExtent extent) {
  constexpr spec::Layout layouts[] = {spec::Layout::bsh, spec::Layout::bnsd, spec::Layout::sbh,
                                      spec::Layout::bsnd};
  std::vector<FlashCase> cases;
  const Budget& budget = extent == ModelExtent::cut ? cut_budget : whole_budget;
  double flop_of_all = 0;
  for (const auto& entry : model_entries(Op::name)) {
    const Shape shape = read_shape(entry);
    FlashCase c{.problem = within(budget, shape.whole), .rows = rows_judged};
    if (extent == ModelExtent::cut && flop(c.problem) >= budget.limit) continue;
    while (flop(c.problem) >= budget.limit) {
      c.problem.seq_q /= 2;
      c.problem.seq_kv /= 2;
    }
    const std::size_t number = cases.size();
    c.problem.input_layout = layouts[number % 4];
    // Modes 2 and 3 are the same causal mask where the lengths are equal.
    if (c.problem.sparse_mode == 2 && number / 4 % 2 == 1) c.problem.sparse_mode = 3;
    c.surface = number % 2 == 0 ? spec::FlashSurface::g1 : spec::FlashSurface::g2;
    c.product = number % 3 == 0 ? spec::Product::a3 : spec::Product::a2;
    c.note = note_of(shape, c.problem);
    flop_of_all += flop(c.problem);
    cases.push_back(std::move(c));
  }
  if (flop_of_all >= budget.limit_of_all)
    throw std::logic_error("model_shapes.json: the shapes need " + std::to_string(flop_of_all) +
                           " flop, the limit is " + std::to_string(budget.limit_of_all));
  return cases;
}

std::vector<FlashCase> largest_cases(std::uint64_t seed) {
  constexpr std::int64_t sequences = 2048, length = 512, longest = 131072, band = 4096;
  FlashCase packed{.surface = spec::FlashSurface::u1,
                   .rows = 4,
                   .seed = seed,
                   .note = "2048 sequences of 512 tokens, 1 head, 4 rows of each sequence judged"};
  Op::Problem& many = packed.problem;
  many.input_layout = spec::Layout::tnd;
  many.batch = sequences;
  many.seq_q = many.seq_kv = length;
  FlashCase single{
      .rows = 4,
      .seed = seed,
      .note = "one sequence of 131072 tokens in a band of 4096, 1 head, 4 rows judged"};
  single.problem.seq_q = single.problem.seq_kv = longest;
  single.problem.pre_tokens = band - 1;
  single.problem.next_tokens = 0;
  for (Op::Problem* p : {&many, &single.problem}) {
    p->head_dim = p->head_dim_v = 64;
    p->scale_value = ordinary_scale(64);
    p->sparse_mode = p == &many ? 3 : 4;
    p->atten_mask = spec::MaskShape::compressed;
  }
  return {packed, single};
}

}  // namespace assay::conformance::flash
