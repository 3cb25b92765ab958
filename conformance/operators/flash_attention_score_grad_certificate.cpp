#include "operators/flash_attention_score_grad_certificate.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include "assay/conformance/parallel.hpp"
#include "assay/reference/flash_attention_score_grad.hpp"

namespace assay::conformance::flash {
namespace {

using reference::Quad;
using Oracle = reference::FlashAttentionScoreGrad<Quad>;

constexpr std::int64_t whole_case_products = 300'000;  // about a tenth of a second in 113 bits
constexpr std::int64_t most_sequences = 16;            // of which rows are certified in larger cases

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

/// Small cases whole. In large ones a row and a key that a causal mask makes cheap: an early row, a late key.
JudgedRows certified_rows(const Dense& dense, const JudgedRows& judged) {
  const Op::Problem& p = dense.problem;
  const std::int64_t products =
      score_count(p) * std::max<std::int64_t>(dense.width(), 8);
  if (products <= whole_case_products) return judged;
  JudgedRows chosen;
  const std::int64_t step = (p.batch + most_sequences - 1) / most_sequences;
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

std::vector<double> narrowed(const std::vector<Quad>& row) {
  std::vector<double> values;
  for (const Quad& x : row) values.push_back(static_cast<double>(x));
  return values;
}

}  // namespace

Certificate certify(const Dense& dense, const Op::Inputs& inputs, const JudgedRows& judged) {
  const Op::Problem& p = dense.problem;
  const JudgedRows chosen = certified_rows(dense, judged);
  const Oracle oracle = Oracle::from(p, inputs);
  const auto queries = static_cast<std::int64_t>(chosen.query.size());
  const auto keys = static_cast<std::int64_t>(chosen.key.size());
  std::vector<reference::QueryRow<Quad>> of_queries(chosen.query.size());
  std::vector<reference::KeyRow<Quad>> of_keys(chosen.key.size());
  parallel_for(queries + keys, [&](std::int64_t task) {
    if (task < queries) {
      const auto k = static_cast<std::size_t>(task);
      const spec::RowPosition row = dense.queries.position(chosen.query[k]);
      of_queries[k] = oracle.dq_row(row.b, row.n, row.s);
      return;
    }
    const auto k = static_cast<std::size_t>(task - queries);
    const spec::RowPosition row = dense.keys.position(chosen.key[k]);
    of_keys[k] = oracle.dkv_row(row.b, row.n, row.s);
  });
  Certificate certificate;
  for (std::size_t k = 0; k < of_queries.size(); ++k) {
    certificate.rows["dq"].push_back({chosen.query[k], narrowed(of_queries[k].dq)});
    certificate.rows["dq_rope"].push_back({chosen.query[k], narrowed(of_queries[k].dq_rope)});
  }
  for (std::size_t k = 0; k < of_keys.size(); ++k) {
    certificate.rows["dk"].push_back({chosen.key[k], narrowed(of_keys[k].dk)});
    certificate.rows["dv"].push_back({chosen.key[k], narrowed(of_keys[k].dv)});
    certificate.rows["dk_rope"].push_back({chosen.key[k], narrowed(of_keys[k].dk_rope)});
  }
  const Arithmetic plain(spec::numerics_preset("fp32_staging", p.dtype), p.dtype);
  for (const Expectation& e : expectations(dense, plain, row_terms(dense, plain), chosen))
    require_agreement(e, certificate.rows[e.name]);
  return certificate;
}

}  // namespace assay::conformance::flash
