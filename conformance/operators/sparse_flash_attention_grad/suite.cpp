#include <algorithm>
#include <cmath>
#include <string>

#include "attention/profiles.hpp"
#include "attention/reductions.hpp"
#include "case/lengths.hpp"
#include "case/limits.hpp"
#include "case/reduction.hpp"
#include "operators/sparse_flash_attention_grad/lists.hpp"
#include "operators/sparse_flash_attention_grad/plan.hpp"
#include "operators/sparse_flash_attention_grad/relations/relations.hpp"
#include "plan/breaking_calls.hpp"
#include "plan/case_collector.hpp"
#include "plan/hand_made_cases.hpp"

namespace assay::conformance {
namespace {

using Op = spec::SparseFlashAttentionGrad;
using Problem = Op::Problem;

double elements(const spec::Extents& e) {
  return static_cast<double>(e.rows()) * static_cast<double>(e.dim);
}

void require_layout(const Problem& p) {
  if (p.layout != spec::Layout::bsnd && p.layout != spec::Layout::tnd)
    refuse("layout", std::string(to_string(p.layout)), "BSND, TND");
  if (p.layout == spec::Layout::bsnd && !(p.lengths_q.empty() && p.lengths_kv.empty()))
    refuse_alone("layout", "BSND", "accepts only sequences of equal length", "add --layout=TND");
}

/// Returns a smaller case, with at most this number of queries and keys in each sequence.
Case<Op> cut(Case<Op> c, std::int64_t most_queries, std::int64_t most_keys) {
  Problem& p = c.problem;
  auto of_queries = all_lengths(p, &Problem::length_q),
       of_keys = all_lengths(p, &Problem::length_kv);
  for (std::int64_t& length : of_queries) length = std::min(length, most_queries);
  for (std::int64_t& length : of_keys) length = std::min(length, most_keys);
  set_lengths(p, of_queries, of_keys);
  return c;
}
std::int64_t one_key(const Problem&) { return 1; }
std::vector<Case<Op>> fewer_heads(const Case<Op>& c) {
  std::vector<Case<Op>> cases;
  for (std::int64_t heads = 1; heads < c.problem.heads_q; heads *= 2) {
    cases.push_back(c);
    cases.back().problem.heads_q = heads;
  }
  return cases;
}

}  // namespace

std::span<const PatternField<Op>> Suite<Op>::patterns() {
  static constexpr PatternField<Op> all[] = {
      {"lists", &Patterns::lists, "pattern of the lists", sparse_flash::list_patterns}};
  return all;
}

std::span<const InputProfile> Suite<Op>::profiles() { return attention::profiles(); }

std::span<const FieldRange> Suite<Op>::field_ranges() {
  constexpr std::int64_t longest = 128 * 1024;
  static constexpr FieldRange all[] = {{"batch", 1, 256, "SFAG-C27"},
                                       {"heads_q", 1, 128, "SFAG-C20"},
                                       {"seq_q", 1, longest, "SFAG-C28"},
                                       {"seq_kv", 1, longest, "SFAG-C29"},
                                       {"lengths_q", 1, longest},
                                       {"lengths_kv", 1, longest},
                                       {"head_dim_rope", 0, 64, "SFAG-C19", 64},
                                       {"sparse_block_size", 1, 64, "SFAG-C11"},
                                       {"sparse_block_count", 1, 8192, "SFAG-C24"},
                                       {"sparse_mode", 0, 3, "SFAG-C10", 3},
                                       {"rows", 0, 0}};
  return all;
}

void Suite<Op>::require_possible(const Case<Op>& c) {
  const Problem& p = c.problem;
  if (p.dtype != spec::DType::fp16 && p.dtype != spec::DType::bf16)
    refuse("dtype", std::string(to_string(p.dtype)), "fp16, bf16");
  require_layout(p);
  if ((p.heads_q & (p.heads_q - 1)) != 0)
    refuse("heads_q", std::to_string(p.heads_q), "1, 2, 4, 8, 16, 32, 64, 128 (SFAG-C20)");
  const std::int64_t size = p.sparse_block_size;
  if (size != 1 && size != 8 && size != 16 && size != 32 && size != 64)
    refuse("sparse_block_size", std::to_string(size), "1, 8, 16, 32, 64 (SFAG-C11)");
  if (!std::isfinite(static_cast<float>(p.scale_value)))
    refuse("scale_value", number_text(p.scale_value), "a number that float can hold");
  require_relation(c, RelationParts::relations());
  double largest = 0, all = 0;
  for (const spec::Extents& e : {query_extents(p), key_extents(p), sparse_indices_extents(p)}) {
    largest = std::max(largest, elements(e));
    all += elements(e);
  }
  // Bytes per element for inputs, outputs and references. The tolerances alone take about 80 bytes
  // for each output element.
  constexpr double bytes_of_element = 140;
  require_size({.largest_tensor = largest,
                .bytes = bytes_of_element * all,
                .with_numbers = c.track != Track::arguments},
               "batch, heads_q, seq_q or seq_kv");
}

double Suite<Op>::multiply_adds(const Problem& p) {
  const auto listed = static_cast<double>(p.sparse_block_size * p.sparse_block_count);
  double pairs = 0;
  for (std::int64_t b = 0; b < p.batch; ++b)
    pairs += static_cast<double>(p.length_q(b) * p.heads_q) *
             std::min(listed, static_cast<double>(p.length_kv(b)));
  return pairs * static_cast<double>(5 * Problem::head_dim + 3 * p.head_dim_rope);
}

std::int64_t Suite<Op>::tensor_elements(const Problem& p) {
  return (query_extents(p).rows() + key_extents(p).rows()) * Problem::head_dim;
}

double Suite<Op>::expected_cost(const Case<Op>& c) {
  if (c.track == Track::arguments) return 1e-4;
  const Problem& p = c.problem;
  const double all = elements(query_extents(p)) + elements(key_extents(p));
  return (0.01 + all * 3e-7 + multiply_adds(p) * 5e-9) * (c.track == Track::relation ? 2.5 : 1.0);
}

void Suite<Op>::collect(const SamplingPlan& plan, CaseCollector<Op>& cases) {
  constexpr std::uint64_t rounds = 2, apart = 1'000'000;
  cases.add(breaking_cases<Op>({sparse_flash::legal_calls()}));
  for (const char* kind : {"corners", "models", "strides", "relations", "legal"})
    cases.add(hand_made_cases<Op>(kind, plan));
  const auto& drawn = sparse_flash::drawn();
  cases.add(drawn.cover(plan));
  for (std::uint64_t round = 0; round < rounds; ++round) {
    SamplingPlan lots = plan;
    lots.seed += apart * round;
    cases.add(drawn.random(lots));
  }
  cases.add(drawn.completion(plan, cases.cases()));
  cases.add(hand_made_cases<Op>("exact", plan));
  cases.add(sparse_flash::exact_cases(plan));
  if (plan.full) cases.add(drawn.completion_of_triples(plan, cases.cases()));
}

const Axes* Suite<Op>::axes() {
  static const Axes all{Op::name, sparse_flash::choice_space(), sparse_flash::factors().axes()};
  return &all;
}

std::vector<std::size_t> Suite<Op>::choice_of(const Case<Op>& c) {
  return sparse_flash::factors().read(c);
}

std::span<const Reduction<Op>> Suite<Op>::reductions() {
  static constexpr Reduction<Op> all[] = {{"fewer sequences", without_sequences<Op>},
                                          {"fewer queries", fewer_queries<Op, cut>},
                                          {"fewer keys", fewer_keys<Op, cut, one_key>},
                                          {"fewer heads", fewer_heads}};
  return all;
}

Intermediates Suite<Op>::intermediates(const Problem&, const Op::Inputs&) {
  return {.arrays = {}, .left_out = "the suite stores no intermediate values of this operator"};
}

}  // namespace assay::conformance
