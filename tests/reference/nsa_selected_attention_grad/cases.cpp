#include "cases.hpp"

#include <algorithm>
#include <utility>

#include "../cases.hpp"

namespace assay::reference {
namespace {

template <class Real>
std::vector<Real> elements_as(std::uint64_t seed, const spec::Extents& e) {
  std::vector<Real> values;
  for (std::int64_t k = 0; k < e.rows() * e.dim; ++k) values.push_back(Real(element(seed, k)));
  return values;
}

SelectedProblem smallest() {
  return {.heads_q = 2,
          .heads_kv = 2,
          .seq_q = 4,
          .seq_kv = 6,
          .head_dim = 3,
          .head_dim_v = 2,
          .scale_value = 0.75,
          .selected_block_size = 2,
          .selected_block_count = 2};
}

/// Returns a block number (0 .. `blocks` - 1) for entry `slot` of list number `list`.
std::int64_t choice(ListKind kind, std::int64_t list, std::int64_t slot, std::int64_t blocks) {
  switch (kind) {
    case ListKind::ascending:
      return slot % blocks;
    case ListKind::shuffled:
      return (3 * list + (blocks - 1) * slot + 1) % blocks;
    case ListKind::duplicates:
      return (list + slot / 2) % blocks;
    case ListKind::all_equal:
      return list % blocks;
  }
  return 0;
}

/// One possible value of a property of a problem, for example no mask or a causal mask. `name` is
/// added to the problem's name, and `apply` changes the problem.
struct Choice {
  std::string name;
  void (*apply)(SelectedProblem& problem);
};

const std::vector<Choice> masks = {
    {"all", [](SelectedProblem&) {}},
    {"zeros", [](SelectedProblem& p) { p.atten_mask = spec::SelectedMask::compressed; }},
    {"causal", [](SelectedProblem& p) { p = causal(p); }}};

const std::vector<Choice> groups = {{"", [](SelectedProblem&) {}},
                                    {"_grouped", [](SelectedProblem& p) { p.heads_kv = 1; }}};

const std::vector<Choice> head_sizes = {
    {"", [](SelectedProblem&) {}},
    {"_equal", [](SelectedProblem& p) { p.head_dim_v = 3; }},
    {"_wide_value", [](SelectedProblem& p) { p.head_dim = 2, p.head_dim_v = 3; }}};

const std::vector<Choice> lengths = {{"", [](SelectedProblem&) {}},
                                     {"_ragged", [](SelectedProblem& p) {
                                        p.batch = 2;
                                        p.seq_q = 5;
                                        p.lengths_q = {1, 5};
                                        p.lengths_kv = {6, 4};
                                      }}};

const std::pair<std::string, ListKind> kinds[] = {{"_ascending", ListKind::ascending},
                                                  {"_shuffled", ListKind::shuffled},
                                                  {"_duplicates", ListKind::duplicates},
                                                  {"_all_equal", ListKind::all_equal}};

}  // namespace

std::vector<NamedSelection> small_selections() {
  std::vector<NamedSelection> selections;
  for (const Choice& mask : masks)
    for (const Choice& group : groups)
      for (const Choice& head_size : head_sizes)
        for (const Choice& length : lengths)
          for (const auto& [kind_name, kind] : kinds) {
            NamedSelection named{.name = {}, .problem = smallest(), .kind = kind};
            for (const Choice* chosen : {&mask, &group, &head_size, &length}) {
              named.name += chosen->name;
              chosen->apply(named.problem);
            }
            named.name += kind_name;
            selections.push_back(named);
          }
  return selections;
}

SelectedProblem causal(SelectedProblem problem) {
  problem.sparse_mode = 2;
  problem.atten_mask = spec::SelectedMask::compressed;
  return problem;
}

std::vector<std::int64_t> make_lists(const SelectedProblem& p, ListKind kind) {
  std::vector<std::int64_t> indices;
  std::int64_t list = 0;
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t kv = 0; kv < p.heads_kv; ++kv)
      for (std::int64_t i = 0; i < p.length_q(b); ++i, ++list) {
        bool sees = p.sparse_mode == 0;
        for (std::int64_t slot = 0; slot < p.selected_block_count; ++slot) {
          indices.push_back(choice(kind, list, slot, p.length_kv(b) / p.selected_block_size));
          sees = sees || indices.back() * p.selected_block_size <= i;
        }
        if (!sees) indices.back() = 0;
      }
  return indices;
}

template <class Real>
void make_consistent(const SelectedProblem& p, SelectedOperands<Real>& operands) {
  const SelectedForward<Real> result = forward(p, operands);
  operands.softmax_max = result.softmax_max;
  operands.softmax_sum = result.softmax_sum;
  operands.attention_out = result.attention_out;
}

template <class Real>
SelectedOperands<Real> consistent_operands(const SelectedProblem& p,
                                           std::vector<std::int64_t> topk_indices) {
  SelectedOperands<Real> operands{
      .query = elements_as<Real>(1, query_extents(p)),
      .key = elements_as<Real>(2, key_extents(p)),
      .value = elements_as<Real>(3, value_extents(p)),
      .attention_out_grad = elements_as<Real>(4, attention_out_extents(p)),
      .softmax_max = {},
      .softmax_sum = {},
      .attention_out = {},
      .topk_indices = std::move(topk_indices)};
  make_consistent(p, operands);
  return operands;
}

template <class Real>
SelectedGradients<Real> all_rows(const SelectedProblem& p,
                                 const NsaSelectedAttentionGrad<Real>& gradient) {
  const auto append = [](std::vector<Real>& all, const std::vector<Real>& row) {
    all.insert(all.end(), row.begin(), row.end());
  };
  SelectedGradients<Real> all;
  for (std::int64_t b = 0; b < p.batch; ++b) {
    for (std::int64_t n = 0; n < p.heads_q; ++n)
      for (std::int64_t i = 0; i < p.length_q(b); ++i) append(all.dq, gradient.dq_row(b, n, i));
    for (std::int64_t kv = 0; kv < p.heads_kv; ++kv)
      for (std::int64_t j = 0; j < p.length_kv(b); ++j) {
        const SelectedKeyRow<Real> row = gradient.dkv_row(b, kv, j);
        append(all.dk, row.dk);
        append(all.dv, row.dv);
      }
  }
  return all;
}

template void make_consistent(const SelectedProblem&, SelectedOperands<double>&);
template void make_consistent(const SelectedProblem&, SelectedOperands<Quad>&);
template SelectedOperands<double> consistent_operands(const SelectedProblem&,
                                                      std::vector<std::int64_t>);
template SelectedOperands<Quad> consistent_operands(const SelectedProblem&,
                                                    std::vector<std::int64_t>);
template SelectedOperands<Fifty> consistent_operands(const SelectedProblem&,
                                                     std::vector<std::int64_t>);
template SelectedGradients<double> all_rows(const SelectedProblem&,
                                            const NsaSelectedAttentionGrad<double>&);
template SelectedGradients<Quad> all_rows(const SelectedProblem&,
                                          const NsaSelectedAttentionGrad<Quad>&);
template SelectedGradients<Fifty> all_rows(const SelectedProblem&,
                                           const NsaSelectedAttentionGrad<Fifty>&);

}  // namespace assay::reference
