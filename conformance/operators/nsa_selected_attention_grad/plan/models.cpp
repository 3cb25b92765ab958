#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "operators/flash_attention_score_grad/plan/sampling.hpp"
#include "operators/nsa_selected_attention_grad/plan/sampling.hpp"
#include "plan/model_entries.hpp"

namespace assay::conformance::selected {
namespace {

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
  p.seq_q = p.seq_kv = entry.at("seq_q");
  p.head_dim = entry.at("head_dim");
  p.head_dim_v = entry.value("head_dim_v", p.head_dim);
  p.scale_value = entry.value("scale", flash::ordinary_scale(p.head_dim));
  p.selected_block_size = entry.at("block_size");
  p.selected_block_count = entry.at("block_count");
  if (entry.at("causal").get<bool>()) {
    p.sparse_mode = 2;
    p.atten_mask = spec::SelectedMask::compressed;
  }
  return shape;
}

/// One key head, and as many tokens as are affordable: of `whole` queries and keys alike; of `cut`
/// fewer queries, without the mask, under which the first queries would see the first block alone.
Op::Problem kept(const Op::Problem& whole, ModelExtent extent) {
  constexpr double entries_of_cut = 1.5e5, entries_of_whole = 2e7;
  constexpr std::int64_t keys_of_cut = 4096;
  Op::Problem p = whole;
  p.heads_kv = 1;
  p.heads_q = whole.group();
  const double of_query = static_cast<double>(p.heads_q * listed_keys(p));
  if (extent == ModelExtent::cut) {
    p.seq_q = std::min(p.seq_q, static_cast<std::int64_t>(entries_of_cut / of_query));
    p.seq_kv = std::min(p.seq_kv, keys_of_cut);
    p.sparse_mode = 0;
    p.atten_mask = spec::SelectedMask::absent;
  } else {
    const auto blocks =
        static_cast<std::int64_t>(entries_of_whole / of_query) / p.selected_block_size;
    p.seq_q = std::min(p.seq_q, blocks * p.selected_block_size);
    p.seq_kv = std::max(p.seq_q, listed_keys(p));
  }
  return p;
}

std::string note_of(const Shape& shape, const SelectedCase& c) {
  const Op::Problem &whole = shape.whole, &p = c.problem;
  std::string note = shape.name + ": batch 1";
  const auto part = [&](std::int64_t some, std::int64_t all, const char* what) {
    if (some != all)
      note += ", " + std::to_string(some) + " of " + std::to_string(all) + " " + what;
  };
  part(p.heads_kv, whole.heads_kv, "key heads");
  part(p.seq_q, whole.seq_q, "query tokens");
  part(p.seq_kv, whole.seq_kv, "key tokens");
  note += ", " + std::to_string(c.rows) + " rows of each head judged";
  std::string without = shape.without;
  if (p.sparse_mode != whole.sparse_mode)
    without += (without.empty() ? "" : " and ") + std::string("mask");
  if (!without.empty()) note += ", without " + without;
  return note;
}

}  // namespace

std::vector<SelectedCase> model_cases(ModelExtent extent) {
  std::vector<SelectedCase> cases;
  for (const auto& entry : model_entries(Op::name)) {
    const Shape shape = read_shape(entry);
    SelectedCase c{.problem = kept(shape.whole, extent),
                   .patterns = {.lists = "anchored"},
                   .rows = extent == ModelExtent::cut ? 2 : 8};
    c.note = note_of(shape, c);
    cases.push_back(std::move(c));
  }
  return cases;
}

}  // namespace assay::conformance::selected
