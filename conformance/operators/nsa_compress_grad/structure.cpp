#include "operators/nsa_compress_grad/structure.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "assay/spec/at.hpp"
#include "judge/structure.hpp"

namespace assay::conformance::compress {
namespace {

using spec::at;

/// Magnitudes of the operands of each head.
struct Magnitudes {
  explicit Magnitudes(const Dense& dense)
      : gradient_sum(at(dense.problem.heads)),
        gradient(gradient_sum),
        input(gradient_sum),
        weight_sum(gradient_sum) {
    const auto add = [](const double* row, std::int64_t dim, double& sum, double& largest) {
      for (std::int64_t c = 0; c < dim; ++c) {
        sum += std::abs(row[c]);
        largest = std::max(largest, std::abs(row[c]));
      }
    };
    const Op::Problem& p = dense.problem;
    double ignored = 0;
    for (std::int64_t n = 0; n < p.heads; ++n) {
      for (std::int64_t b = 0; b < p.batch; ++b) {
        for (std::int64_t i = 0; i < dense.outputs.length(b); ++i)
          add(dense.output_grad(b, n, i), p.head_dim, gradient_sum[at(n)], gradient[at(n)]);
        for (std::int64_t s = 0; s < dense.inputs.length(b); ++s)
          add(dense.input(b, n, s), p.head_dim, ignored, input[at(n)]);
      }
      for (std::int64_t w = 0; w < p.compress_block_size; ++w)
        weight_sum[at(n)] += std::abs(dense.weight(w, n));
    }
  }
  std::vector<double> gradient_sum, gradient;  ///< of output_grad: sum and largest magnitude
  std::vector<double> input, weight_sum;       ///< largest magnitude of input, sum of the
                                               ///< magnitudes of weight
};

/// One output, and the conditions that limit its values.
struct Checked {
  const char* name;
  const spec::Tensor& tensor;
  spec::HeadIndex index;
  std::function<bool(const spec::RowPosition&)> is_reached;  ///< true if a window covers the row
  std::function<double(std::int64_t n)> limit;               ///< bound of all elements of the head
};

void check_values(const Checked& c, const Arithmetic& arithmetic, std::vector<Finding>& findings) {
  StructureFindings nonzero(c.name, "is not zero where no window reaches", findings, 0);
  StructureFindings infinite(c.name, "is not finite although nothing can overflow", findings);
  const spec::Numerics& numerics = arithmetic.numerics;
  const bool is_half_inside = numerics.stage == spec::DType::fp16 ||
                              numerics.partials == spec::DType::fp16 ||
                              numerics.accumulator == spec::Accumulator::fp16;
  const double threshold = overflow_threshold(is_half_inside ? spec::DType::fp16 : arithmetic.io);
  const spec::Extents& e = c.index.extents();
  std::vector<double> row(at(e.dim));
  for (std::int64_t b = 0; b < e.batch; ++b)
    for (std::int64_t n = 0; n < e.heads; ++n) {
      const bool may_overflow = 2 * c.limit(n) >= threshold;
      for (std::int64_t s = 0; s < e.length(b); ++s) {
        const bool zero = !c.is_reached({b, n, s});
        if (!zero && may_overflow) continue;
        spec::load_row(c.tensor, c.index(b, n, s, 0), c.index.step(), row);
        for (std::int64_t d = 0; d < e.dim; ++d) {
          const double x = row[at(d)];
          if (zero ? x == 0 : std::isfinite(x)) continue;
          const Finding place{.b = b, .n = n, .s = s, .d = d, .actual = x};
          (zero ? nonzero : infinite).add(place);
        }
      }
    }
}

}  // namespace

std::vector<Finding> check_structure(const Dense& dense, const Arithmetic& arithmetic,
                                     const Op::Outputs& outputs) {
  std::vector<Finding> findings;
  check_storage("input_grad", outputs.input_grad, findings);
  check_storage("weight_grad", outputs.weight_grad, findings);
  const Magnitudes magnitudes(dense);
  const auto is_covered = [&](const spec::RowPosition& row) {
    return covering_windows(dense.problem, row.b, row.s).count() > 0;
  };
  check_values({.name = "input_grad",
                .tensor = outputs.input_grad,
                .index = {outputs.input_grad, spec::Layout::tnd, dense.inputs},
                .is_reached = is_covered,
                .limit =
                    [&](std::int64_t n) {
                      return magnitudes.weight_sum[at(n)] * magnitudes.gradient[at(n)];
                    }},
               arithmetic, findings);
  const bool has_windows = dense.outputs.tokens() > 0;
  check_values({.name = "weight_grad",
                .tensor = outputs.weight_grad,
                .index = weight_index(dense.problem, outputs.weight_grad),
                .is_reached = [=](const spec::RowPosition&) { return has_windows; },
                .limit =
                    [&](std::int64_t n) {
                      return magnitudes.gradient_sum[at(n)] * magnitudes.input[at(n)];
                    }},
               arithmetic, findings);
  return findings;
}

}  // namespace assay::conformance::compress
