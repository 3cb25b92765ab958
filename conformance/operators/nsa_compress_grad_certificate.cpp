#include "operators/nsa_compress_grad_certificate.hpp"

#include <algorithm>

#include "assay/conformance/parallel.hpp"
#include "assay/reference/nsa_compress_grad.hpp"

namespace assay::conformance::compress {
namespace {

using reference::Quad;
using Rows = std::vector<std::int64_t>;

constexpr std::int64_t affordable_products = 300'000;  // about a tenth of a second in 113 bits
constexpr std::int64_t most_rows = 16;

/// So many of `rows`, evenly spaced, the first and the last among them.
Rows some_of(const Rows& rows, std::int64_t count) {
  const auto size = static_cast<std::int64_t>(rows.size());
  if (count >= size) return rows;
  Rows some;
  for (std::int64_t k = 0; k < count; ++k)
    some.push_back(rows[static_cast<std::size_t>(k * (size - 1) / std::max<std::int64_t>(1, count - 1))]);
  return some;
}

JudgedRows certified_rows(const Dense& dense, const JudgedRows& judged) {
  const Op::Problem& p = dense.problem;
  const auto chosen = [](const Rows& rows, std::int64_t products_of_row) {
    const std::int64_t affordable = affordable_products / std::max<std::int64_t>(1, products_of_row);
    const bool is_small = static_cast<std::int64_t>(rows.size()) <= affordable;
    return is_small ? rows : some_of(rows, std::clamp<std::int64_t>(affordable, 1, most_rows));
  };
  const std::int64_t covering = (p.compress_block_size - 1) / p.compress_stride + 1;
  return {.input = chosen(judged.input, covering * p.head_dim),
          .weight = chosen(judged.weight, all_windows(p) * p.head_dim)};
}

}  // namespace

Certificate certify(const Dense& dense, const Op::Inputs& inputs, const JudgedRows& judged) {
  const JudgedRows chosen = certified_rows(dense, judged);
  const auto oracle = reference::NsaCompressGrad<Quad>::from(dense.problem, inputs);
  const auto of_input = static_cast<std::int64_t>(chosen.input.size());
  std::vector<Certificate::Row> input(chosen.input.size()), weight(chosen.weight.size());
  parallel_for(of_input + static_cast<std::int64_t>(weight.size()), [&](std::int64_t task) {
    if (task < of_input) {
      Certificate::Row& row = input[static_cast<std::size_t>(task)];
      row.number = chosen.input[static_cast<std::size_t>(task)];
      const auto [b, n, s] = dense.inputs.position(row.number);
      for (const Quad& x : oracle.input_grad_row(b, n, s))
        row.value.push_back(static_cast<double>(x));
      return;
    }
    Certificate::Row& row = weight[static_cast<std::size_t>(task - of_input)];
    row.number = chosen.weight[static_cast<std::size_t>(task - of_input)];
    const spec::RowPosition place = dense.weights.position(row.number);
    row.value = {static_cast<double>(oracle.weight_grad(place.s, place.n))};
  });
  Certificate certificate;
  certificate.rows = {{"input_grad", std::move(input)}, {"weight_grad", std::move(weight)}};
  const Arithmetic plain({}, dense.problem.dtype);
  for (const Expectation& e : expectations(dense, plain, chosen))
    require_agreement(e, certificate.rows[e.name]);
  return certificate;
}

}  // namespace assay::conformance::compress
