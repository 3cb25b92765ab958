#include "operators/flash_attention_score_grad_certificate.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <stdexcept>

#include "assay/conformance/parallel.hpp"
#include "assay/reference/flash_attention_score_grad.hpp"

namespace assay::conformance::flash {
namespace {

using reference::Quad;
using Oracle = reference::FlashAttentionScoreGrad<Quad>;

constexpr std::int64_t whole_case_products = 300'000;  // about a tenth of a second in 113 bits

/// The judged row next to `wanted`.
std::vector<std::int64_t> one_near(const std::vector<std::int64_t>& judged, std::int64_t wanted) {
  if (judged.empty()) return {};
  const auto next = std::lower_bound(judged.begin(), judged.end(), wanted);
  return {next == judged.end() ? judged.back() : *next};
}

/// Small cases whole. In large ones a row and a key that a causal mask makes cheap: an early row, a late key.
JudgedRows certified_rows(const Op::Problem& p, const JudgedRows& judged) {
  const std::int64_t products =
      p.batch * p.heads_q * p.seq_q * p.seq_kv * std::max<std::int64_t>(p.head_dim, 8);
  if (products <= whole_case_products) return judged;
  return {one_near(judged.query, std::min<std::int64_t>(p.seq_q / 2, 512)),
          one_near(judged.key, p.seq_kv - std::min<std::int64_t>(p.seq_kv / 2, 256))};
}

std::vector<double> narrowed(const std::vector<Quad>& row) {
  std::vector<double> values;
  for (const Quad& x : row) values.push_back(static_cast<double>(x));
  return values;
}

void require_agreement(const Expectation& e, const std::vector<Certificate::Row>& rows) {
  for (const Certificate::Row& row : rows) {
    const auto position = std::lower_bound(e.rows.begin(), e.rows.end(), row.flat) - e.rows.begin();
    for (std::int64_t d = 0; d < e.dim; ++d) {
      const auto k = static_cast<std::size_t>(position * e.dim + d);
      const double exact = row.value[static_cast<std::size_t>(d)];
      if (std::abs(exact - e.value[k]) <= e.radius[k] + 0x1p-52 * std::abs(exact)) continue;
      const Finding place = locate(e, static_cast<std::int64_t>(k));
      std::ostringstream text;
      text.precision(17);
      text << "reference " << e.name << '(' << place.b << ',' << place.n << ',' << place.s << ','
           << d << ") is " << e.value[k] << " in double, " << exact
           << " in 113 bits; the proven radius is " << e.radius[k];
      throw std::logic_error(text.str());
    }
  }
}

}  // namespace

Certificate certify(const Dense& dense, const Op::Inputs& inputs, const JudgedRows& judged) {
  const Op::Problem& p = dense.problem;
  const JudgedRows chosen = certified_rows(p, judged);
  const bool whole = chosen.query.size() == judged.query.size() && chosen.key.size() == judged.key.size();
  const Oracle oracle = Oracle::from(p, inputs);
  const std::int64_t query_heads = whole ? p.heads_q : 1, key_heads = whole ? p.heads_kv : 1;
  Certificate certificate;
  const auto rows_of = [&](std::size_t tensor, std::int64_t heads, std::int64_t stride,
                           std::int64_t seq, const std::vector<std::int64_t>& rows) {
    for (std::int64_t b = 0; b < p.batch; ++b)
      for (std::int64_t n = 0; n < heads; ++n)
        for (const std::int64_t s : rows)
          certificate.rows[tensor].push_back({(b * stride + n) * seq + s, {}});
  };
  rows_of(0, query_heads, p.heads_q, p.seq_q, chosen.query);
  rows_of(1, key_heads, p.heads_kv, p.seq_kv, chosen.key);
  certificate.rows[2] = certificate.rows[1];
  const auto queries = static_cast<std::int64_t>(certificate.rows[0].size());
  const auto keys = static_cast<std::int64_t>(certificate.rows[1].size());
  parallel_for(queries + keys, [&](std::int64_t task) {
    const auto k = static_cast<std::size_t>(task < queries ? task : task - queries);
    if (task < queries) {
      Certificate::Row& row = certificate.rows[0][k];
      const std::int64_t head = row.flat / p.seq_q;
      row.value = narrowed(oracle.dq_row(head / p.heads_q, head % p.heads_q, row.flat % p.seq_q));
      return;
    }
    const std::int64_t flat = certificate.rows[1][k].flat, head = flat / p.seq_kv;
    const auto gradient =
        oracle.dkv_row(head / p.heads_kv, head % p.heads_kv, flat % p.seq_kv);
    certificate.rows[1][k].value = narrowed(gradient.dk);
    certificate.rows[2][k].value = narrowed(gradient.dv);
  });
  const Arithmetic plain(spec::numerics_preset("fp32_staging", p.dtype), p.dtype);
  const auto engine = expectations(dense, plain, row_terms(dense, plain), chosen);
  for (std::size_t t = 0; t < engine.size(); ++t)
    require_agreement(engine[t], certificate.rows[t]);
  return certificate;
}

void Certificate::apply(std::array<Expectation, 3>& expectations) const {
  for (std::size_t t = 0; t < rows.size(); ++t)
    for (const Row& row : rows[t]) {
      Expectation& e = expectations[t];
      const auto position =
          std::lower_bound(e.rows.begin(), e.rows.end(), row.flat) - e.rows.begin();
      for (std::int64_t d = 0; d < e.dim; ++d) {
        const auto k = static_cast<std::size_t>(position * e.dim + d);
        e.value[k] = row.value[static_cast<std::size_t>(d)];
        e.radius[k] = 0x1p-52 * std::abs(e.value[k]);
      }
    }
}

}  // namespace assay::conformance::flash
