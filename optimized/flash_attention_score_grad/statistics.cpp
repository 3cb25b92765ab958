#include "flash_attention_score_grad/statistics.hpp"

#include <cstring>

namespace assay::optimized {

Statistics::Statistics(const Problem& problem, const spec::Tensor& tensor,
                       const spec::Extents& extents)
    : view_(tensor),
      extents_(&extents),
      layout_(problem.input_layout),
      packed_(problem.softmax_in_layout == spec::StatisticsOrder::packed) {}

std::int64_t Statistics::element(const RowSpan& rows, std::int64_t i) const {
  const spec::Tensor& tensor = view_.tensor();
  const spec::Shape& s = tensor.strides;
  const std::int64_t row = rows.first + i;
  if (layout_ != spec::Layout::tnd)
    return tensor.offset + rows.b * s[0] + rows.n * s[1] + row * s[2];
  if (packed_) return view_(spec::statistics_replicas * extents_->row(rows.b, rows.n, row));
  return tensor.offset + (extents_->start(rows.b) + row) * s[0] + rows.n * s[1];
}

void Statistics::read(const RowSpan& rows, float* to) const {
  for (std::int64_t i = 0; i < rows.count; ++i)
    std::memcpy(to + i, view_.tensor().bytes.data() + element(rows, i) * 4, 4);
}

}  // namespace assay::optimized
