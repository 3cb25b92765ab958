#include <algorithm>

#include "assay/conformance/operators/nsa_compress_grad.hpp"
#include "compression/windows.hpp"
#include "operators/nsa_compress_grad/limits.hpp"

namespace assay::conformance {
namespace {

using Op = spec::NsaCompressGrad;

/// Returns the element count. In double: the product may exceed 64 bits.
double elements(const spec::Extents& e) {
  return static_cast<double>(e.tokens()) * static_cast<double>(e.heads) *
         static_cast<double>(e.dim);
}

}  // namespace

double Suite<Op>::multiply_adds(const Op::Problem& p) {
  return 2 * elements(output_extents(p)) * static_cast<double>(p.compress_block_size);
}

std::int64_t Suite<Op>::tensor_elements(const Op::Problem& p) {
  return (input_extents(p).rows() + output_extents(p).rows()) * p.head_dim;
}

double largest_tensor(const Op::Problem& p) {
  return std::max(elements(input_extents(p)), elements(compress::weight_extents(p)));
}

double memory_estimate(const Case<Op>& c) {
  const Op::Problem& p = c.problem;
  const double input = elements(input_extents(p)), gradient = elements(output_extents(p)),
               weight = elements(compress::weight_extents(p));
  const auto width = static_cast<double>(size_of(p.dtype));
  constexpr double dense = 8, borrowed = 2, runs_and_untouched = 3;
  constexpr double element_list = 9;  // of the output whose storage is being checked
  constexpr double judged = 90;       // reference, tolerances, corruptions of a judged element
  const double rows = c.rows == 0 ? static_cast<double>(p.seq) : static_cast<double>(c.rows);
  const double share = std::min(1.0, rows / std::max(1.0, static_cast<double>(p.seq)));
  return (input + gradient + weight) * (borrowed * width + dense) +
         (input + weight) * runs_and_untouched * width + input * element_list +
         (input * share + weight) * judged;
}

// Expected time of a case on one core, in seconds: filling and checking the tensors, and the
// products of kernel and reference. The factors were fitted to one sweep.
double Suite<Op>::expected_cost(const Case<Op>& c) {
  if (c.track == Track::arguments) return 1e-4;
  const bool is_exact = c.track == Track::exact || c.track == Track::exact_staged;
  const double once = 0.001 +
                      static_cast<double>(tensor_elements(c.problem)) * (is_exact ? 9e-8 : 1.8e-7) +
                      multiply_adds(c.problem) * 1e-9;
  // A relation needs at least two runs of the kernel, and bounds for every element of each run.
  return c.track == Track::relation ? 2.5 * once : once;
}

}  // namespace assay::conformance
