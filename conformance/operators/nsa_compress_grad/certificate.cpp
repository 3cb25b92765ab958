#include "operators/nsa_compress_grad/certificate.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "assay/parallel/loop.hpp"
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
    some.push_back(
        rows[static_cast<std::size_t>(k * (size - 1) / std::max<std::int64_t>(1, count - 1))]);
  return some;
}

/// The rows that are recomputed. Large cases are certified in two of their heads.
struct Chosen {
  JudgedRows rows;
  std::vector<std::int64_t> heads;  ///< ascending
};

Chosen chosen_rows(const Dense& dense, const JudgedRows& judged) {
  const Op::Problem& p = dense.problem;
  Chosen chosen;
  const bool is_large = dense.inputs.rows() * p.head_dim > affordable_products;
  for (std::int64_t n = 0; n < p.heads; ++n)
    if (!is_large || n == 0 || n == p.heads - 1) chosen.heads.push_back(n);
  const auto choose = [&](const Rows& rows, const spec::Extents& e, std::int64_t products_of_row) {
    Rows some = rows;
    if (is_large)
      std::erase_if(some, [&](std::int64_t row) {
        const std::int64_t n = e.position(row).n;
        return n != 0 && n != p.heads - 1;
      });
    const std::int64_t affordable =
        affordable_products / std::max<std::int64_t>(1, products_of_row);
    const bool is_small = static_cast<std::int64_t>(some.size()) <= affordable;
    return is_small ? some : some_of(some, std::clamp<std::int64_t>(affordable, 1, most_rows));
  };
  const std::int64_t covering = (p.compress_block_size - 1) / p.compress_stride + 1;
  chosen.rows = {.input = choose(judged.input, dense.inputs, covering * p.head_dim),
                 .weight = choose(judged.weight, dense.weights, all_windows(p) * p.head_dim)};
  return chosen;
}

/// The definition on the chosen heads. Where these are all, it reads the tensors itself.
class Oracle {
 public:
  Oracle(const Dense& dense, const Op::Inputs& inputs, const std::vector<std::int64_t>& heads)
      : heads_(heads),
        oracle_(std::ssize(heads) == dense.problem.heads
                    ? Reference::from(dense.problem, inputs)
                    : Reference(of_heads(dense.problem, heads), operands(dense, heads))) {}

  std::vector<double> input_grad(const spec::RowPosition& row) const {
    std::vector<double> values;
    for (const Quad& x : oracle_.input_grad_row(row.b, position(row.n), row.s))
      values.push_back(static_cast<double>(x));
    return values;
  }
  double weight_grad(const spec::RowPosition& row) const {
    return static_cast<double>(oracle_.weight_grad(row.s, position(row.n)));
  }

 private:
  using Reference = reference::NsaCompressGrad<Quad>;

  std::int64_t position(std::int64_t head) const {
    return std::ranges::lower_bound(heads_, head) - heads_.begin();
  }
  static Op::Problem of_heads(Op::Problem p, const std::vector<std::int64_t>& heads) {
    p.heads = std::ssize(heads);
    return p;
  }
  static reference::CompressOperands<Quad> operands(const Dense& dense,
                                                    const std::vector<std::int64_t>& heads) {
    const Op::Problem& p = dense.problem;
    reference::CompressOperands<Quad> some;
    for (std::int64_t b = 0; b < p.batch; ++b)
      for (const std::int64_t n : heads) {
        const std::int64_t tokens = dense.inputs.length(b), windows = dense.outputs.length(b);
        const double* input = dense.input(b, n, 0);
        some.input.insert(some.input.end(), input, input + tokens * p.head_dim);
        const double* gradient = dense.output_grad(b, n, 0);
        some.output_grad.insert(some.output_grad.end(), gradient, gradient + windows * p.head_dim);
      }
    for (std::int64_t w = 0; w < p.compress_block_size; ++w)
      for (const std::int64_t n : heads) some.weight.emplace_back(dense.weight(w, n));
    return some;
  }

  const std::vector<std::int64_t>& heads_;
  Reference oracle_;
};

}  // namespace

Certificate certify(const Dense& dense, const Op::Inputs& inputs, const JudgedRows& judged) {
  const auto [chosen, heads] = chosen_rows(dense, judged);
  const Oracle oracle(dense, inputs, heads);
  const auto of_input = static_cast<std::int64_t>(chosen.input.size());
  std::vector<Certificate::Row> input(chosen.input.size()), weight(chosen.weight.size());
  for (std::size_t k = 0; k < input.size(); ++k) input[k].number = chosen.input[k];
  for (std::size_t k = 0; k < weight.size(); ++k) weight[k].number = chosen.weight[k];
  parallel::for_each(of_input + std::ssize(weight), [&](std::int64_t task) {
    if (task < of_input) {
      Certificate::Row& row = input[static_cast<std::size_t>(task)];
      row.value = oracle.input_grad(dense.inputs.position(row.number));
    } else {
      Certificate::Row& row = weight[static_cast<std::size_t>(task - of_input)];
      row.value = {oracle.weight_grad(dense.weights.position(row.number))};
    }
  });
  Certificate certificate;
  certificate.rows = {{"input_grad", std::move(input)}, {"weight_grad", std::move(weight)}};
  const Arithmetic plain({}, dense.problem.dtype);
  for (const Expectation& e : expectations(dense, plain, chosen))
    require_agreement(e, certificate.rows[e.name]);
  return certificate;
}

}  // namespace assay::conformance::compress
