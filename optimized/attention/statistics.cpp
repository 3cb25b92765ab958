#include "attention/statistics.hpp"

#include <cstring>

#include "assay/spec/attention.hpp"

namespace assay::optimized {

Statistics::Statistics(const Problem& problem, const spec::Tensor& tensor,
                       const spec::Extents& extents)
    : view_(tensor),
      extents_(&extents),
      layout_(problem.input_layout),
      heads_first_(problem.statistics_order == spec::StatisticsOrder::heads_first) {}

std::int64_t Statistics::element(const RowSpan& rows, std::int64_t i, std::int64_t replica) const {
  const spec::Tensor& tensor = view_.tensor();
  const spec::Shape& s = tensor.strides;
  const std::int64_t row = rows.first + i, after = replica * s.back();
  if (!is_packed(layout_))
    return tensor.offset + rows.b * s[0] + rows.n * s[1] + row * s[2] + after;
  if (heads_first_)
    return view_(spec::statistics_replicas * extents_->row(rows.b, rows.n, row) + replica);
  return tensor.offset + (extents_->start(rows.b) + row) * s[0] + rows.n * s[1] + after;
}

void Statistics::read(const RowSpan& rows, float* to) const {
  for (std::int64_t i = 0; i < rows.count; ++i)
    std::memcpy(to + i, view_.tensor().bytes.data() + element(rows, i, 0) * 4, 4);
}

void Statistics::write(const RowSpan& rows, const float* from, spec::Tensor& tensor) const {
  for (std::int64_t i = 0; i < rows.count; ++i)
    for (std::int64_t r = 0; r < spec::statistics_replicas; ++r)
      std::memcpy(tensor.bytes.data() + element(rows, i, r) * 4, from + i, 4);
}

}  // namespace assay::optimized
