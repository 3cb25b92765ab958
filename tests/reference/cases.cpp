#include "cases.hpp"

namespace assay::reference {
namespace {

std::vector<double> elements(std::uint64_t seed, std::int64_t count) {
  std::vector<double> values(static_cast<std::size_t>(count));
  for (std::int64_t k = 0; k < count; ++k) values[static_cast<std::size_t>(k)] = element(seed, k);
  return values;
}

template <class Real>
std::vector<Real> elements_as(std::uint64_t seed, const spec::Extents& e) {
  const auto values = elements(seed, e.batch * e.heads * e.seq * e.dim);
  return std::vector<Real>(values.begin(), values.end());
}

spec::Tensor tensor_of(const spec::Parameter& parameter) {
  spec::Tensor tensor{.dtype = parameter.dtype, .shape = parameter.shape,
                      .strides = parameter.strides, .offset = parameter.offset, .bytes = {}};
  tensor.bytes.resize(static_cast<std::size_t>(
      spec::storage_elements(tensor.shape, tensor.strides, tensor.offset) *
      spec::size_of(tensor.dtype)));
  return tensor;
}

/// What the mask excludes in the modes that read it.
bool excludes(std::int64_t element_index, std::int64_t i) {
  return i == 1 || element(/*seed=*/77, element_index) < -0.34;
}

void fill_mask(spec::Tensor& mask) {
  const auto viewed = spec::viewed_elements(mask);
  const std::int64_t columns = mask.shape.back();
  const std::int64_t rows = mask.shape[mask.shape.size() - 2];
  for (std::size_t k = 0; k < viewed.size(); ++k) {
    const auto index = static_cast<std::int64_t>(k);
    const std::int64_t i = index / columns % rows;
    mask.store(viewed[k], excludes(index, i) ? 1.0 : 0.0);
  }
}

spec::Tensor filled(const spec::Parameter& parameter, spec::Layout layout,
                    const spec::Extents& e, std::uint64_t seed) {
  spec::Tensor tensor = tensor_of(parameter);
  const spec::HeadIndex at(tensor, layout, e);
  std::int64_t k = 0;
  for (std::int64_t b = 0; b < e.batch; ++b)
    for (std::int64_t n = 0; n < e.heads; ++n)
      for (std::int64_t s = 0; s < e.seq; ++s)
        for (std::int64_t d = 0; d < e.dim; ++d) tensor.store(at(b, n, s, d), element(seed, k++));
  return tensor;
}

}  // namespace

double element(std::uint64_t seed, std::int64_t index) {
  std::uint64_t x = (seed + 1) * 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(index);
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return static_cast<double>(static_cast<std::int64_t>((x >> 32) % 127) - 63) * 0x1p-6;
}

std::vector<NamedProblem> small_problems() {
  using enum spec::MaskShape;
  Problem p;
  p.dtype = spec::DType::fp32;
  p.scale_value = 0.7;
  p.heads_q = 4;
  p.heads_kv = 2;
  p.seq_q = 4;
  p.seq_kv = 5;
  p.head_dim = 3;
  p.head_dim_v = 2;
  std::vector<NamedProblem> list = {{"without_mask", p}};
  const auto add = [&](std::string name, std::int64_t mode, spec::MaskShape shape) -> Problem& {
    list.push_back({std::move(name), p});
    list.back().problem.sparse_mode = mode;
    list.back().problem.atten_mask = shape;
    return list.back().problem;
  };
  add("mode_0_ss", 0, ss);
  add("mode_0_bnss", 0, bnss).batch = 2;
  add("mode_1_b1ss", 1, b_one_ss).batch = 2;
  add("mode_1_11ss", 1, one_one_ss).mask_dtype = spec::DType::uint8;
  add("mode_2", 2, compressed);
  add("mode_3", 3, compressed);
  Problem& band = add("mode_4", 4, compressed);
  band.pre_tokens = 2;
  band.next_tokens = 0;
  Problem& dead_rows = add("mode_3_dead_rows", 3, compressed);
  dead_rows.seq_q = 5;
  dead_rows.seq_kv = 3;
  add("negative_scale", 0, absent).scale_value = -1.3;
  add("one_query", 0, absent).seq_q = 1;
  add("one_key", 0, absent).seq_kv = 1;
  return list;
}

std::optional<spec::Tensor> make_mask(const Problem& problem) {
  if (problem.atten_mask == spec::MaskShape::absent) return std::nullopt;
  spec::Tensor mask = spec::contiguous_tensor(problem.mask_dtype, spec::mask_shape(problem));
  if (problem.atten_mask != spec::MaskShape::compressed) fill_mask(mask);
  return mask;
}

template <class Real>
Operands<Real> consistent_operands(const Problem& p, const spec::Tensor* atten_mask) {
  Operands<Real> operands{.query = elements_as<Real>(1, query_extents(p)),
                          .key = elements_as<Real>(2, key_extents(p)),
                          .value = elements_as<Real>(3, value_extents(p)),
                          .dy = elements_as<Real>(4, dy_extents(p)),
                          .softmax_max = {}, .softmax_sum = {}, .attention_in = {}};
  const Forward<Real> result = forward(p, operands, atten_mask);
  operands.softmax_max = result.softmax_max;
  operands.softmax_sum = result.softmax_sum;
  operands.attention_in = result.attention_out;
  return operands;
}

Inputs make_inputs(const Problem& p, spec::Striding striding) {
  const auto call = spec::call_of(p, spec::FlashSurface::g1, spec::Product::a2, striding, striding);
  const auto& t = call.parameters;
  const spec::Extents statistics = {p.batch, p.heads_q, p.seq_q, spec::statistics_replicas};
  Inputs inputs{.query = filled(t.query, p.input_layout, query_extents(p), 1),
                .key = filled(t.key, p.input_layout, key_extents(p), 2),
                .value = filled(t.value, p.input_layout, value_extents(p), 3),
                .dy = filled(t.dy, p.input_layout, dy_extents(p), 4),
                .softmax_max = filled(t.softmax_max, spec::Layout::bnsd, statistics, 5),
                .softmax_sum = filled(t.softmax_sum, spec::Layout::bnsd, statistics, 6),
                .attention_in = filled(t.attention_in, p.input_layout, dy_extents(p), 7),
                .atten_mask = std::nullopt};
  if (p.atten_mask != spec::MaskShape::absent) {
    inputs.atten_mask = tensor_of(t.atten_mask);
    if (p.atten_mask != spec::MaskShape::compressed) fill_mask(*inputs.atten_mask);
  }
  return inputs;
}

template <class Real>
Gradients<Real> all_rows(const Problem& p, const FlashAttentionScoreGrad<Real>& gradient) {
  const auto append = [](std::vector<Real>& all, const std::vector<Real>& row) {
    all.insert(all.end(), row.begin(), row.end());
  };
  Gradients<Real> all;
  for (std::int64_t b = 0; b < p.batch; ++b) {
    for (std::int64_t n = 0; n < p.heads_q; ++n)
      for (std::int64_t i = 0; i < p.seq_q; ++i) append(all.dq, gradient.dq_row(b, n, i));
    for (std::int64_t kv = 0; kv < p.heads_kv; ++kv)
      for (std::int64_t j = 0; j < p.seq_kv; ++j) {
        const KeyRow<Real> row = gradient.dkv_row(b, kv, j);
        append(all.dk, row.dk);
        append(all.dv, row.dv);
      }
  }
  return all;
}

template Operands<double> consistent_operands(const Problem&, const spec::Tensor*);
template Operands<Quad> consistent_operands(const Problem&, const spec::Tensor*);
template Operands<Fifty> consistent_operands(const Problem&, const spec::Tensor*);
template Gradients<double> all_rows(const Problem&, const FlashAttentionScoreGrad<double>&);
template Gradients<Quad> all_rows(const Problem&, const FlashAttentionScoreGrad<Quad>&);
template Gradients<Fifty> all_rows(const Problem&, const FlashAttentionScoreGrad<Fifty>&);

}  // namespace assay::reference
