#include "oracle.hpp"

namespace assay::test {
namespace {

using spec::Tensor;

spec::Call<Op> call(const Example& example) {
  const Op::Problem& p = example.problem;
  using enum spec::FlashEntryPoint;
  const auto packed = p.has_sink() ? u5 : p.head_dim_rope > 0 ? u3 : u2;
  const auto padded = p.has_sink() ? g3 : g2;
  return spec::call_of(p, is_packed(p.input_layout) ? packed : padded, spec::Product::a2,
                       example.inputs, example.outputs);
}

/// Stores value(index) in every element of the view. The index always has four axes; the missing
/// leading ones are 0.
template <class Value>
void fill(Tensor& tensor, const Value& value) {
  const std::size_t rank = tensor.shape.size();
  spec::Shape index(4, 0);
  for (const std::int64_t element : spec::viewed_elements(tensor)) {
    tensor.store(element, value(index));
    for (std::size_t axis = rank; axis-- > 0;) {
      if (++index[4 - rank + axis] < tensor.shape[axis]) break;
      index[4 - rank + axis] = 0;
    }
  }
}

/// Fills every slice of the mask as documented: a lower triangle, followed by 1024 rows with ones
/// in the right half.
void fill_compressed_mask(Tensor& mask) {
  const spec::Shape& strides = mask.strides;
  const bool sliced = mask.shape.size() == 4;
  const std::int64_t heads = sliced ? mask.shape[1] : 1, rows = mask.shape.end()[-2];
  for (std::int64_t slice = 0; slice < (sliced ? mask.shape[0] * heads : 1); ++slice) {
    const std::int64_t first =
        mask.offset + (sliced ? slice / heads * strides[0] + slice % heads * strides[1] : 0);
    for (std::int64_t i = 0; i < rows; ++i) {
      const std::int64_t kept = i >= 2048 ? 1024 : i + 1, row = first + i * strides.end()[-2];
      for (std::int64_t j = 0; j < 2048; ++j)
        mask.bytes[static_cast<std::size_t>(row + j * strides.back())] =
            j < kept ? std::byte{0} : std::byte{1};
    }
  }
}

void fill_mask(const Example& e, Tensor& mask) {
  if (is_compressed(e.problem.atten_mask)) {
    fill_compressed_mask(mask);
    return;
  }
  fill(mask, [&](const spec::Shape& x) { return e.excludes(x[0], x[1], x[2], x[3]) ? 1.0 : 0.0; });
}

/// Stores the bias of all pairs, sequence by sequence without gaps. If `rows` is false, stores only
/// one row for each head of a sequence.
void fill_packed(const Op::Problem& p, Tensor& tensor, bool rows) {
  const std::vector<std::int64_t> elements = spec::viewed_elements(tensor);
  std::size_t next = 0;
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t n = 0; n < p.heads_q; ++n)
      for (std::int64_t i = 0; i < (rows ? p.length_q(b) : 1); ++i)
        for (std::int64_t j = 0; j < p.length_kv(b); ++j)
          tensor.store(elements[next++], bias_of_pair({b, n, i, j}));
}

void fill_bias(const Op::Problem& p, Tensor& tensor) {
  using spec::PseShape;
  if (p.pse_shift == PseShape::packed_bnss || p.pse_shift == PseShape::packed_bn1s) {
    fill_packed(p, tensor, p.pse_shift == PseShape::packed_bnss);
    return;
  }
  // The tensor stores the last 1024 rows of the longest sequence.
  const std::int64_t last = is_packed(p.input_layout) ? p.seq_kv : p.seq_q;
  fill(tensor, [&](const spec::Shape& x) {
    if (p.pse_type >= 2) return slope(x[2], x[3]);
    if (p.pse_shift == PseShape::bnhs || p.pse_shift == PseShape::one_nhs)
      return bias_of_distance(x[0], x[1], last - 1024 + x[2] - x[3]);
    return bias_of_pair({x[0], x[1], x[2], x[3]});
  });
}

void fill_drop_mask(const Op::Problem& p, Tensor& mask) {
  const std::vector<std::int64_t> elements = spec::viewed_elements(mask);
  std::size_t bit = 0;
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t n = 0; n < p.heads_q; ++n)
      for (std::int64_t i = 0; i < p.length_q(b); ++i)
        for (std::int64_t j = 0; j < p.length_kv(b); ++j, ++bit) {
          std::byte& byte = mask.bytes[static_cast<std::size_t>(elements[bit / 8])];
          const std::byte own = std::byte{1} << (bit % 8);
          byte = dropped({b, n, i, j}) ? byte & ~own : byte | own;
        }
}

}  // namespace

std::vector<std::int64_t> statistics_elements(const Op::Problem& p, const Tensor& tensor,
                                              const Pair& row) {
  const spec::Shape& s = tensor.strides;
  const std::int64_t heads = p.heads_q;
  std::int64_t before = 0;
  for (std::int64_t b = 0; b < row.b; ++b) before += p.length_q(b);
  std::vector<std::int64_t> elements;
  for (std::int64_t lane = 0; lane < 8; ++lane) {
    std::int64_t element = tensor.offset;
    if (!is_packed(p.input_layout)) {
      element += row.b * s[0] + row.n * s[1] + row.i * s[2] + lane * s[3];
    } else {
      std::int64_t number = 8 * ((before + row.i) * heads + row.n) + lane;
      if (p.statistics_order == spec::StatisticsOrder::heads_first)
        number = 8 * (heads * before + row.n * p.length_q(row.b) + row.i) + lane;
      element += number / (8 * heads) * s[0] + number / 8 % heads * s[1] + number % 8 * s[2];
    }
    elements.push_back(element);
  }
  return elements;
}

Op::Inputs inputs_without_forward(const Example& example) {
  const Op::Problem& p = example.problem;
  const Op::Parameters t = call(example).parameters;
  Op::Inputs inputs{.query = random_tensor(t.query, 1, 1),
                    .key = random_tensor(t.key, 2, 1),
                    .value = random_tensor(t.value, 3, 1),
                    .dy = random_tensor(t.dy, 4, 1),
                    .softmax_max = random_tensor(t.softmax_max, 5, 0),
                    .softmax_sum = random_tensor(t.softmax_sum, 6, 0),
                    .attention_in = random_tensor(t.attention_in, 7, 0)};
  if (p.head_dim_rope > 0) {
    inputs.query_rope = random_tensor(t.query_rope, 8, 1);
    inputs.key_rope = random_tensor(t.key_rope, 9, 1);
  }
  if (t.sink.present) inputs.sink = random_tensor(t.sink, 10, 2);
  if (t.atten_mask.present) {
    inputs.atten_mask = tensor_of(t.atten_mask, std::byte{1});
    fill_mask(example, *inputs.atten_mask);
  }
  if (t.pse_shift.present) {
    inputs.pse_shift = tensor_of(t.pse_shift, std::byte{0x7F});
    fill_bias(p, *inputs.pse_shift);
  }
  if (t.drop_mask.present) {
    inputs.drop_mask = tensor_of(t.drop_mask, std::byte{0xA5});
    fill_drop_mask(p, *inputs.drop_mask);
  }
  return inputs;
}

Op::Outputs outputs_of(const Example& example) {
  const Op::Parameters t = call(example).parameters;
  constexpr std::byte garbage{0xAB};
  Op::Outputs outputs{.dq = tensor_of(t.dq, garbage),
                      .dk = tensor_of(t.dk, garbage),
                      .dv = tensor_of(t.dv, garbage)};
  if (t.dsink.present) outputs.dsink = tensor_of(t.dsink, garbage);
  if (example.problem.head_dim_rope > 0) {
    outputs.dq_rope = tensor_of(t.dq_rope, garbage);
    outputs.dk_rope = tensor_of(t.dk_rope, garbage);
  }
  return outputs;
}

}  // namespace assay::test
