#include "bilinear/structure.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "assay/spec/at.hpp"
#include "judge/structure.hpp"

namespace assay::conformance::bilinear {
namespace {

using spec::at;

/// The sum of the magnitudes of one head of an input, and its largest magnitude.
struct HeadSize {
  double sum = 0, largest = 0;
};

HeadSize size_of_head(const Operands& operands, std::size_t operand, std::int64_t n) {
  const spec::Extents& e = operands.form().operands[operand].extents;
  HeadSize size;
  for (std::int64_t b = 0; b < e.batch; ++b)
    for (std::int64_t s = 0; s < e.length(b); ++s) {
      const double* row = operands.row(operand, e.row(b, n, s));
      for (std::int64_t c = 0; c < e.dim; ++c) {
        size.sum += std::abs(row[c]);
        size.largest = std::max(size.largest, std::abs(row[c]));
      }
    }
  return size;
}

/// Returns the smallest magnitude at which the kernel's output or one of its intermediate results
/// may overflow.
double overflow_threshold_of(const Arithmetic& arithmetic) {
  const spec::Numerics& numerics = arithmetic.numerics;
  const bool is_half_inside = numerics.stage == spec::DType::fp16 ||
                              numerics.partials == spec::DType::fp16 ||
                              numerics.accumulator == spec::Accumulator::fp16;
  return overflow_threshold(is_half_inside ? spec::DType::fp16 : arithmetic.io);
}

void check_values(const Operands& operands, const Sum& sum, const Arithmetic& arithmetic,
                  const spec::Tensor& output, std::vector<Finding>& findings) {
  const std::string name(sum.name);
  StructureFindings nonzero(name, FactKind::nonzero_without_window, findings, 0);
  StructureFindings infinite(name, FactKind::infinite, findings);
  const double threshold = overflow_threshold_of(arithmetic);
  const spec::HeadIndex index = index_of(output, sum.extents);
  const spec::Extents& e = sum.extents;
  std::vector<double> row(at(e.dim));
  std::vector<RowPair> pairs;
  std::vector<bool> may_overflow;
  for (std::int64_t n = 0; n < e.heads; ++n)
    may_overflow.push_back(2 * size_of_head(operands, sum.left, n).sum *
                               size_of_head(operands, sum.right, n).largest >=
                           threshold);
  for (std::int64_t b = 0; b < e.batch; ++b)
    for (std::int64_t n = 0; n < e.heads; ++n)
      for (std::int64_t s = 0; s < e.length(b); ++s) {
        pairs.clear();
        sum.pairs({b, n, s}, pairs);
        const bool zero = pairs.empty();
        if (!zero && may_overflow[at(n)]) continue;
        spec::load_row(output, index(b, n, s, 0), index.step(), row);
        for (std::int64_t d = 0; d < e.dim; ++d) {
          const double x = row[at(d)];
          if (zero ? x == 0 : std::isfinite(x)) continue;
          const Finding place{.b = b, .n = n, .s = s, .d = d, .actual = x};
          (zero ? nonzero : infinite).add(place);
        }
      }
}

}  // namespace

std::vector<Finding> check_structure(const Operands& operands, const Arithmetic& arithmetic,
                                     const std::vector<const spec::Tensor*>& outputs) {
  std::vector<Finding> findings;
  const std::vector<Sum>& sums = operands.form().sums;
  for (std::size_t k = 0; k < sums.size(); ++k)
    check_storage(std::string(sums[k].name), *outputs[k], findings);
  for (std::size_t k = 0; k < sums.size(); ++k)
    check_values(operands, sums[k], arithmetic, *outputs[k], findings);
  return findings;
}

}  // namespace assay::conformance::bilinear
