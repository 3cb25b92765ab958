#include "oracle.hpp"

#include <algorithm>
#include <cmath>

namespace assay::test::selected {
namespace {

using spec::Tensor;

/// The elements of a packed tensor as doubles.
class Numbers {
 public:
  explicit Numbers(const Tensor& tensor)
      : heads_(tensor.shape[1]), dim_(tensor.shape[2]), numbers_(values(tensor)) {}

  const double* row(std::int64_t t, std::int64_t n) const {
    return numbers_.data() + (t * heads_ + n) * dim_;
  }

 private:
  std::int64_t heads_, dim_;
  std::vector<double> numbers_;
};

double dot(const double* x, const double* y, std::int64_t count) {
  double sum = 0;
  for (std::int64_t d = 0; d < count; ++d) sum += x[d] * y[d];
  return sum;
}

/// Adds factor * x to sums, element by element.
void add(double factor, const double* x, std::int64_t count, double* sums) {
  for (std::int64_t d = 0; d < count; ++d) sums[d] += factor * x[d];
}

void store(Tensor& x, const spec::Shape& index, double value) {
  x.store(x.offset + index[0] * x.strides[0] + index[1] * x.strides[1] + index[2] * x.strides[2],
          value);
}

/// One row of query, and the keys that its list selects. A key occurs once for every list entry
/// that names its block.
struct Row {
  std::int64_t t, n, kv;        ///< token in the pack, query head, key head
  std::vector<std::int64_t> r;  ///< keys that the query attends to, as tokens in the pack
};

std::vector<Row> rows_of(const Op::Problem& p, const Tensor& topk_indices) {
  std::vector<Row> rows;
  const Numbers lists(topk_indices);
  std::int64_t q0 = 0, k0 = 0;
  for (std::int64_t b = 0; b < p.batch; q0 += p.length_q(b), k0 += p.length_kv(b), ++b)
    for (std::int64_t s = 0; s < p.length_q(b); ++s)
      for (std::int64_t n = 0; n < p.heads_q; ++n) {
        Row row = {.t = q0 + s, .n = n, .kv = n / (p.heads_q / p.heads_kv), .r = {}};
        for (std::int64_t i = 0; i < p.selected_block_count; ++i)
          for (std::int64_t j = 0; j < p.selected_block_size; ++j) {
            const auto v = static_cast<std::int64_t>(lists.row(row.t, row.kv)[i]);
            const std::int64_t position = v * p.selected_block_size + j;
            const bool masked =
                p.sparse_mode == 2 && p.atten_mask != spec::SelectedMask::absent && position > s;
            if (!masked) row.r.push_back(k0 + position);
          }
        rows.push_back(row);
      }
  return rows;
}

double scale_of(const Op::Problem& p) { return static_cast<float>(p.scale_value); }

void forward(const Op::Problem& p, Op::Inputs& x) {
  const Numbers query(x.query), key(x.key), value(x.value);
  for (const Row& row : rows_of(p, x.topk_indices)) {
    if (row.r.empty()) continue;
    std::vector<double> scores;
    for (const std::int64_t r : row.r)
      scores.push_back(scale_of(p) * dot(query.row(row.t, row.n), key.row(r, row.kv), p.head_dim));
    const double max = *std::ranges::max_element(scores);
    double sum = 0;
    for (const double s : scores) sum += std::exp(s - max);
    std::vector<double> y(static_cast<std::size_t>(p.head_dim_v), 0);
    for (std::size_t k = 0; k < row.r.size(); ++k)
      add(std::exp(scores[k] - max) / sum, value.row(row.r[k], row.kv), p.head_dim_v, y.data());
    for (std::int64_t lane = 0; lane < 8; ++lane) {
      store(x.softmax_max, {row.t, row.n, lane}, max);
      store(x.softmax_sum, {row.t, row.n, lane}, sum);
    }
    for (std::int64_t c = 0; c < p.head_dim_v; ++c)
      store(x.attention_out, {row.t, row.n, c}, y[static_cast<std::size_t>(c)]);
  }
}

spec::Call<Op> call(const Example& e) {
  return spec::call_of(e.problem, spec::SelectedEntryPoint::s1, spec::Product::a2, e.inputs,
                       e.outputs);
}

/// Returns a block for a list entry. For the first entry it returns a block that begins at or
/// before the token, so that the token attends to at least one key.
std::int64_t any_block(const Op::Problem& p, const Entry& e) {
  const std::int64_t blocks = p.length_kv(e.b) / p.selected_block_size;
  const std::int64_t seen = std::min(blocks, e.token / p.selected_block_size + 1);
  const double share =
      0.5 +
      noise(static_cast<std::uint64_t>(((e.b * 131 + e.kv) * 4099 + e.token) * 67 + e.slot)) / 2;
  return static_cast<std::int64_t>(share * static_cast<double>(e.slot == 0 ? seen : blocks));
}

void fill_lists(const Example& e, Tensor& topk_indices) {
  const Op::Problem& p = e.problem;
  std::int64_t t = 0;
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t s = 0; s < p.length_q(b); ++s, ++t)
      for (std::int64_t kv = 0; kv < p.heads_kv; ++kv)
        for (std::int64_t i = 0; i < p.selected_block_count; ++i) {
          const Entry entry = {b, kv, s, i};
          const std::int64_t block = e.block ? e.block(entry) : any_block(p, entry);
          store(topk_indices, {t, kv, i}, static_cast<double>(block));
        }
}

}  // namespace

Op::Inputs inputs_without_forward(const Example& example) {
  const Op::Parameters t = call(example).parameters;
  Op::Inputs inputs{.query = random_tensor(t.query, 1, 1),
                    .key = random_tensor(t.key, 2, 1),
                    .value = random_tensor(t.value, 3, 1),
                    .attention_out = random_tensor(t.attention_out, 4, 0),
                    .attention_out_grad = random_tensor(t.attention_out_grad, 5, 1),
                    .softmax_max = random_tensor(t.softmax_max, 6, 0),
                    .softmax_sum = random_tensor(t.softmax_sum, 7, 0),
                    .topk_indices = tensor_of(t.topk_indices, std::byte{0x7F})};
  fill_lists(example, inputs.topk_indices);
  if (!t.atten_mask.present) return inputs;
  inputs.atten_mask = tensor_of(t.atten_mask, std::byte{0});
  Tensor& mask = *inputs.atten_mask;
  for (std::int64_t i = 0; i < mask.shape[0]; ++i)
    for (std::int64_t j = 0; j < mask.shape[1]; ++j)
      mask.bytes[static_cast<std::size_t>(mask.offset + i * mask.strides[0] +
                                          j * mask.strides[1])] = std::byte(j > i);
  return inputs;
}

Op::Inputs inputs_of(const Example& example) {
  Op::Inputs inputs = inputs_without_forward(example);
  forward(example.problem, inputs);
  return inputs;
}

Op::Outputs outputs_of(const Example& example) {
  const Op::Parameters t = call(example).parameters;
  constexpr std::byte garbage{0xAB};
  return {.dq = tensor_of(t.dq, garbage),
          .dk = tensor_of(t.dk, garbage),
          .dv = tensor_of(t.dv, garbage)};
}

Gradients oracle(const Op::Problem& p, const Op::Inputs& x) {
  const auto zeros = [](const Tensor& like) {
    return std::vector<double>(static_cast<std::size_t>(spec::element_count(like.shape)), 0);
  };
  Gradients g = {zeros(x.query), zeros(x.key), zeros(x.value)};
  const Numbers query(x.query), key(x.key), value(x.value), dy(x.attention_out_grad),
      attention(x.attention_out), softmax_max(x.softmax_max), softmax_sum(x.softmax_sum);
  const std::int64_t d = p.head_dim, dv = p.head_dim_v;
  for (const Row& row : rows_of(p, x.topk_indices)) {
    const double max = *softmax_max.row(row.t, row.n), sum = *softmax_sum.row(row.t, row.n);
    const double* const q = query.row(row.t, row.n);
    const double* const dy_row = dy.row(row.t, row.n);
    const double delta = dot(dy_row, attention.row(row.t, row.n), dv);
    for (const std::int64_t r : row.r) {
      const double* const k = key.row(r, row.kv);
      const double prob = std::exp(scale_of(p) * dot(q, k, d) - max) / sum;
      const double ds = prob * (dot(dy_row, value.row(r, row.kv), dv) - delta) * scale_of(p);
      const std::int64_t of_query = row.t * p.heads_q + row.n, of_key = r * p.heads_kv + row.kv;
      add(ds, k, d, g.dq.data() + of_query * d);
      add(ds, q, d, g.dk.data() + of_key * d);
      add(prob, dy_row, dv, g.dv.data() + of_key * dv);
    }
  }
  return g;
}

std::vector<double> values(const Tensor& tensor) {
  std::vector<double> numbers;
  for (const std::int64_t element : spec::viewed_elements(tensor))
    numbers.push_back(tensor.load(element));
  return numbers;
}

Gradients values(const Op::Outputs& o) { return {values(o.dq), values(o.dk), values(o.dv)}; }

bool same_bits(const Op::Outputs& x, const Op::Outputs& y) {
  return x.dq.bytes == y.dq.bytes && x.dk.bytes == y.dk.bytes && x.dv.bytes == y.dv.bytes;
}

}  // namespace assay::test::selected
