#include "cases.hpp"

namespace assay::reference {
namespace {

template <class Real>
std::vector<Real> elements_as(std::uint64_t seed, const spec::Extents& e) {
  std::vector<Real> values;
  for (std::int64_t k = 0; k < e.rows() * e.dim; ++k) values.push_back(Real(element(seed, k)));
  return values;
}

spec::Tensor tensor_of(const spec::Parameter& parameter) {
  spec::Tensor tensor{.dtype = parameter.dtype,
                      .shape = parameter.shape,
                      .strides = parameter.strides,
                      .offset = parameter.offset,
                      .bytes = {}};
  tensor.bytes.resize(
      static_cast<std::size_t>(spec::storage_elements(tensor.shape, tensor.strides, tensor.offset) *
                               spec::size_of(tensor.dtype)));
  return tensor;
}

/// Returns whether the user's mask excludes the element. It is called only for the sparse modes
/// that read this mask.
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

void fill_pse(spec::Tensor& pse) {
  const auto viewed = spec::viewed_elements(pse);
  for (std::size_t k = 0; k < viewed.size(); ++k)
    pse.store(viewed[k], element(/*seed=*/78, static_cast<std::int64_t>(k)));
}

/// Sets about two thirds of the bits to 1.
void fill_drop_mask(spec::Tensor& mask) {
  const auto viewed = spec::viewed_elements(mask);
  for (std::size_t k = 0; k < viewed.size(); ++k) {
    unsigned byte = 0;
    for (unsigned bit = 0; bit < 8; ++bit)
      if (element(/*seed=*/79, static_cast<std::int64_t>(8 * k + bit)) < 0.34) byte |= 1u << bit;
    mask.store(viewed[k], byte);
  }
}

spec::Tensor filled(const spec::Parameter& parameter, spec::Layout layout, const spec::Extents& e,
                    std::uint64_t seed) {
  spec::Tensor tensor = tensor_of(parameter);
  const spec::HeadIndex at(tensor, layout, e);
  std::int64_t k = 0;
  for (std::int64_t b = 0; b < e.batch; ++b)
    for (std::int64_t n = 0; n < e.heads; ++n)
      for (std::int64_t s = 0; s < e.length(b); ++s)
        for (std::int64_t d = 0; d < e.dim; ++d) tensor.store(at(b, n, s, d), element(seed, k++));
  return tensor;
}

/// Makes random statistics between 1 and 2, in the memory order of the problem.
spec::Tensor filled_statistics(const spec::Parameter& parameter, const Problem& p,
                               std::uint64_t seed) {
  spec::Tensor tensor = tensor_of(parameter);
  const auto viewed = spec::viewed_elements(tensor);
  const bool by_token =
      is_packed(p.input_layout) && p.statistics_order == spec::StatisticsOrder::tokens_first;
  std::int64_t row = 0, token = 0;
  for (std::int64_t b = 0; b < p.batch; token += p.length_q(b++))
    for (std::int64_t n = 0; n < p.heads_q; ++n)
      for (std::int64_t i = 0; i < p.length_q(b); ++i, ++row)
        for (std::int64_t r = 0; r < 8; ++r) {
          const std::int64_t place = by_token ? (token + i) * p.heads_q + n : row;
          tensor.store(viewed[static_cast<std::size_t>(8 * place + r)],
                       1.5 + 0.5 * element(seed, 8 * row + r));
        }
  return tensor;
}

spec::Call<spec::FlashAttentionScoreGrad> call_of(const Problem& p, spec::Striding striding) {
  const auto entry_point =
      p.head_dim_rope > 0 ? spec::FlashEntryPoint::u3 : spec::FlashEntryPoint::u2;
  return spec::call_of(p, entry_point, spec::Product::a2, striding, striding);
}

OwnedSides strided_sides(const Problem& p, spec::Striding striding) {
  const auto t = call_of(p, striding).parameters;
  OwnedSides sides;
  if (p.atten_mask != spec::MaskShape::absent) {
    sides.atten_mask = tensor_of(t.atten_mask);
    if (p.atten_mask != spec::MaskShape::compressed) fill_mask(*sides.atten_mask);
  }
  if (p.pse_shift != spec::PseShape::absent)
    fill_pse(sides.pse_shift.emplace(tensor_of(t.pse_shift)));
  if (p.drop_mask != spec::DropMask::absent)
    fill_drop_mask(sides.drop_mask.emplace(tensor_of(t.drop_mask)));
  return sides;
}

}  // namespace

Problem one_head(std::int64_t queries, std::int64_t keys, double scale) {
  Problem p;
  p.dtype = spec::DType::fp32;
  p.seq_q = queries;
  p.seq_kv = keys;
  p.head_dim = p.head_dim_v = 1;
  p.scale_value = scale;
  return p;
}

spec::Tensor tensor_of(spec::DType dtype, const spec::Shape& shape,
                       const std::vector<double>& elements) {
  spec::Tensor tensor = spec::contiguous_tensor(dtype, shape);
  for (std::size_t k = 0; k < elements.size(); ++k)
    tensor.store(static_cast<std::int64_t>(k), elements[k]);
  return tensor;
}

double element(std::uint64_t seed, std::int64_t index) {
  std::uint64_t x = (seed + 1) * 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(index);
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return static_cast<double>(static_cast<std::int64_t>((x >> 32) % 127) - 63) * 0x1p-6;
}

SideInputs OwnedSides::refer() const {
  return {.atten_mask = atten_mask ? &*atten_mask : nullptr,
          .pse_shift = pse_shift ? &*pse_shift : nullptr,
          .drop_mask = drop_mask ? &*drop_mask : nullptr};
}

OwnedSides make_sides(const Problem& p) { return strided_sides(p, spec::Striding::contiguous); }

template <class Real>
Operands<Real> consistent_operands(const Problem& p, const SideInputs& side) {
  Operands<Real> operands{.query = elements_as<Real>(1, query_extents(p)),
                          .key = elements_as<Real>(2, key_extents(p)),
                          .value = elements_as<Real>(3, value_extents(p)),
                          .dy = elements_as<Real>(4, dy_extents(p)),
                          .softmax_max = {},
                          .softmax_sum = {},
                          .attention_in = {},
                          .query_rope = elements_as<Real>(8, query_rope_extents(p)),
                          .key_rope = elements_as<Real>(9, key_rope_extents(p))};
  const Forward<Real> result = forward(p, operands, side);
  operands.softmax_max = result.softmax_max;
  operands.softmax_sum = result.softmax_sum;
  operands.attention_in = result.attention_out;
  return operands;
}

Inputs make_inputs(const Problem& p, spec::Striding striding) {
  const auto t = call_of(p, striding).parameters;
  OwnedSides sides = strided_sides(p, striding);
  Inputs inputs{.query = filled(t.query, p.input_layout, query_extents(p), 1),
                .key = filled(t.key, p.input_layout, key_extents(p), 2),
                .value = filled(t.value, p.input_layout, value_extents(p), 3),
                .dy = filled(t.dy, p.input_layout, dy_extents(p), 4),
                .softmax_max = filled_statistics(t.softmax_max, p, 5),
                .softmax_sum = filled_statistics(t.softmax_sum, p, 6),
                .attention_in = filled(t.attention_in, p.input_layout, dy_extents(p), 7),
                .atten_mask = std::move(sides.atten_mask),
                .pse_shift = std::move(sides.pse_shift),
                .drop_mask = std::move(sides.drop_mask)};
  if (p.head_dim_rope > 0) {
    inputs.query_rope = filled(t.query_rope, p.input_layout, query_rope_extents(p), 8);
    inputs.key_rope = filled(t.key_rope, p.input_layout, key_rope_extents(p), 9);
  }
  return inputs;
}

std::vector<spec::Layout> layouts_of(const Problem& p) {
  if (!p.lengths_q.empty() || !p.lengths_kv.empty()) return {spec::Layout::tnd};
  std::vector<spec::Layout> layouts;
  for (const auto& [layout, name] : spec::spellings_of<spec::Layout>.entries)
    layouts.push_back(layout);
  return layouts;
}

template <class Real>
Gradients<Real> all_rows(const Problem& p, const FlashAttentionScoreGrad<Real>& gradient) {
  const auto append = [](std::vector<Real>& all, const std::vector<Real>& row) {
    all.insert(all.end(), row.begin(), row.end());
  };
  Gradients<Real> all;
  for (std::int64_t b = 0; b < p.batch; ++b) {
    for (std::int64_t n = 0; n < p.heads_q; ++n)
      for (std::int64_t i = 0; i < p.length_q(b); ++i) {
        const QueryRow<Real> row = gradient.dq_row(b, n, i);
        append(all.dq, row.dq);
        append(all.dq_rope, row.dq_rope);
      }
    for (std::int64_t kv = 0; kv < p.heads_kv; ++kv)
      for (std::int64_t j = 0; j < p.length_kv(b); ++j) {
        const KeyRow<Real> row = gradient.dkv_row(b, kv, j);
        append(all.dk, row.dk);
        append(all.dv, row.dv);
        append(all.dk_rope, row.dk_rope);
      }
  }
  return all;
}

template Operands<double> consistent_operands(const Problem&, const SideInputs&);
template Operands<Quad> consistent_operands(const Problem&, const SideInputs&);
template Operands<Fifty> consistent_operands(const Problem&, const SideInputs&);
template Gradients<double> all_rows(const Problem&, const FlashAttentionScoreGrad<double>&);
template Gradients<Quad> all_rows(const Problem&, const FlashAttentionScoreGrad<Quad>&);
template Gradients<Fifty> all_rows(const Problem&, const FlashAttentionScoreGrad<Fifty>&);

}  // namespace assay::reference
