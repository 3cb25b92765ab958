#include "attention/certificate.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "assay/parallel/loop.hpp"
#include "assay/reference/flash_attention_score_grad.hpp"

namespace assay::conformance::flash {
namespace {

using reference::Quad;
using Oracle = reference::FlashAttentionScoreGrad<Quad>;

constexpr std::int64_t whole_case_products = 300'000;  // about a tenth of a second in 113 bits

/// The judged row of sequence b and head 0 next to query or key `wanted`.
std::vector<std::int64_t> one_near(const spec::Extents& extents,
                                   const std::vector<std::int64_t>& judged, std::int64_t b,
                                   std::int64_t wanted) {
  if (extents.length(b) == 0) return {};
  const std::int64_t end = extents.row(b, 0, 0) + extents.length(b);
  const auto next = std::lower_bound(judged.begin(), judged.end(), extents.row(b, 0, wanted));
  if (next != judged.end() && *next < end) return {*next};
  return next == judged.begin() ? std::vector<std::int64_t>{} : std::vector{*std::prev(next)};
}

/// Small cases whole. In large ones a row and a key that a causal mask makes cheap: an early row, a
/// late key.
JudgedRows certified_rows(const Dense& dense, const JudgedRows& judged,
                          const Definition& definition) {
  const Op::Problem& p = dense.problem;
  if (definition.products <= whole_case_products) return judged;
  JudgedRows chosen;
  const std::int64_t step = (p.batch + definition.most_sequences - 1) / definition.most_sequences;
  for (std::int64_t b = 0; b < p.batch; b += step) {
    const std::int64_t queries = p.length_q(b), keys = p.length_kv(b);
    for (const std::int64_t row :
         one_near(dense.queries, judged.query, b, std::min<std::int64_t>(queries / 2, 512)))
      chosen.query.push_back(row);
    const std::int64_t late = keys - std::min<std::int64_t>((keys + 1) / 2, 256);
    for (const std::int64_t row : one_near(dense.keys, judged.key, b, late))
      chosen.key.push_back(row);
  }
  return chosen;
}

}  // namespace

std::vector<double> narrowed(const std::vector<Quad>& row) {
  std::vector<double> values;
  for (const Quad& x : row) values.push_back(static_cast<double>(x));
  return values;
}

Certificate certify(const Dense& dense, const JudgedRows& judged, const Definition& definition) {
  const Op::Problem& p = dense.problem;
  const JudgedRows chosen = certified_rows(dense, judged, definition);
  const std::size_t queries = chosen.query.size();
  std::vector<NamedRows> rows(queries + chosen.key.size());
  const auto number_of = [&](std::size_t k) {
    return k < queries ? chosen.query[k] : chosen.key[k - queries];
  };
  parallel::for_each(std::ssize(rows), [&](std::int64_t task) {
    const auto k = static_cast<std::size_t>(task);
    rows[k] = k < queries ? definition.query(dense.queries.position(number_of(k)))
                          : definition.key(dense.keys.position(number_of(k)));
  });
  Certificate certificate;
  for (std::size_t k = 0; k < rows.size(); ++k)
    for (auto& [name, row] : rows[k])
      certificate.rows[name].push_back({number_of(k), std::move(row)});
  const Arithmetic plain(spec::numerics_preset("fp32_staging", p.dtype), p.dtype);
  for (const Expectation& e : expectations(dense, plain, row_terms(dense, plain), chosen))
    require_agreement(e, certificate.rows[e.name]);
  return certificate;
}

Certificate certify(const Dense& dense, const Op::Inputs& inputs, const JudgedRows& judged) {
  const Op::Problem& p = dense.problem;
  const Oracle oracle = Oracle::from(p, inputs);
  const Definition definition{
      .query =
          [&](const spec::RowPosition& at) {
            const auto row = oracle.dq_row(at.b, at.n, at.s);
            return NamedRows{{"dq", narrowed(row.dq)}, {"dq_rope", narrowed(row.dq_rope)}};
          },
      .key =
          [&](const spec::RowPosition& at) {
            const auto row = oracle.dkv_row(at.b, at.n, at.s);
            return NamedRows{{"dk", narrowed(row.dk)},
                             {"dv", narrowed(row.dv)},
                             {"dk_rope", narrowed(row.dk_rope)}};
          },
      .products = score_count(p) * std::max<std::int64_t>(dense.width(), 8)};
  return certify(dense, judged, definition);
}

}  // namespace assay::conformance::flash
