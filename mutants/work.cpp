#include "work.hpp"

#include <limits>

namespace assay::mutants {
namespace {

std::size_t first_element(const spec::Extents& e, std::int64_t b, std::int64_t n, std::int64_t s) {
  return static_cast<std::size_t>(e.row(b, n, s) * e.dim);
}

}  // namespace

std::span<float> DenseRows::row(std::int64_t b, std::int64_t n, std::int64_t s) {
  return std::span<float>(values).subspan(first_element(extents, b, n, s),
                                          static_cast<std::size_t>(extents.dim));
}

std::span<const float> DenseRows::row(std::int64_t b, std::int64_t n, std::int64_t s) const {
  return std::span<const float>(values).subspan(first_element(extents, b, n, s),
                                                static_cast<std::size_t>(extents.dim));
}

DenseRows filled(const spec::Extents& e, float value) {
  return {e, std::vector<float>(static_cast<std::size_t>(e.rows() * e.dim), value)};
}

DenseRows dense_of(const spec::Tensor& tensor, spec::Layout layout, const spec::Extents& e) {
  const spec::HeadIndex index(tensor, layout, e);
  DenseRows dense = filled(e, 0);
  std::size_t next = 0;
  visit_rows(e, [&](std::int64_t b, std::int64_t n, std::int64_t s) {
    for (std::int64_t d = 0; d < e.dim; ++d)
      dense.values[next++] = static_cast<float>(tensor.load(index(b, n, s, d)));
  });
  return dense;
}

DenseRows& AttentionWork::gradient(Gradient which) {
  switch (which) {
    case Gradient::dk:
      return dk;
    case Gradient::dv:
      return dv;
    case Gradient::dq_rope:
      return dq_rope;
    case Gradient::dk_rope:
      return dk_rope;
    case Gradient::dq:
      break;
  }
  return dq;
}

float dot(std::span<const float> a, std::span<const float> b, float sum) {
  for (std::size_t d = 0; d < a.size(); ++d) sum += a[d] * b[d];
  return sum;
}

bool is_dead(const AttentionWork& w, Query q) {
  return w.softmax_max.row(q.b, q.n, q.i)[0] == -std::numeric_limits<float>::max();
}

std::vector<float> flat(const spec::Tensor& tensor) {
  std::vector<float> values;
  for (const std::int64_t element : viewed_elements(tensor))
    values.push_back(static_cast<float>(tensor.load(element)));
  return values;
}

}  // namespace assay::mutants
