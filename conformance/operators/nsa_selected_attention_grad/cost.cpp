#include <algorithm>

#include "assay/conformance/operators/nsa_selected_attention_grad.hpp"
#include "operators/nsa_selected_attention_grad/limits.hpp"
#include "operators/nsa_selected_attention_grad/plan/sampling.hpp"

namespace assay::conformance {
namespace {

using Op = spec::NsaSelectedAttentionGrad;

double elements(const spec::Extents& e) {
  return static_cast<double>(e.rows()) * static_cast<double>(e.dim);
}

double mask_bytes(const Op::Problem& p) {
  if (p.atten_mask == spec::SelectedMask::absent) return 0;
  return static_cast<double>(spec::element_count(mask_shape(p)));
}

}  // namespace

double Suite<Op>::multiply_adds(const Op::Problem& p) {
  const auto dims = static_cast<double>(3 * p.head_dim + 2 * p.head_dim_v);
  return selected::entries(p) * dims;
}

// Expected time of a case on one core, in seconds: a constant, the work per gradient element, the
// mask, and the work per list entry in the judged rows. The factors were fitted to one sweep.
double Suite<Op>::expected_cost(const Case<Op>& c) {
  if (c.track == Track::arguments) return 1e-4;
  const Op::Problem& p = c.problem;
  const double all = selected::entries(p), dims = static_cast<double>(p.head_dim + p.head_dim_v);
  const double gradients =
      elements(query_extents(p)) + elements(key_extents(p)) + elements(value_extents(p));
  const double mask = mask_bytes(p) / 4e8;
  if (c.track == Track::exact || c.track == Track::exact_staged)
    return 0.003 + mask + gradients * 8e-8 + all * dims * 4e-10;
  const auto judged_share = [&](std::int64_t extent) {
    return c.rows == 0 ? 1.0
                       : std::min(1.0, static_cast<double>(c.rows) / static_cast<double>(extent));
  };
  const double judged = all * (judged_share(p.seq_q) + judged_share(p.seq_kv)) / 2;
  // A relation needs at least two runs of the kernel, and bounds for every element of each run.
  return (0.008 + mask + gradients * 2.2e-7 + judged * dims * 1.3e-9) *
         (c.track == Track::relation ? 2.5 : 1.0);
}

std::int64_t Suite<Op>::tensor_elements(const Op::Problem& p) {
  return (query_extents(p).rows() + p.group() * key_extents(p).rows()) * p.head_dim;
}

double memory_estimate(const Op::Problem& p) {
  const double query = elements(query_extents(p)), key = elements(key_extents(p)),
               value = elements(value_extents(p)), out = elements(attention_out_extents(p));
  const auto rows = static_cast<double>(query_extents(p).rows());
  const auto width = static_cast<double>(size_of(p.dtype));
  constexpr double borrowed = 2, runs_and_untouched = 3, of_double = 8, of_four = 4;
  constexpr double element_list = 9;  // of the output whose storage is being checked
  return (query + key + value + 2 * out) * (borrowed * width + of_double) +
         (query + key + value) * runs_and_untouched * width +
         std::max({query, key, value}) * element_list +
         rows * 2 * (spec::statistics_replicas * borrowed * of_four + of_double) +
         elements(topk_extents(p)) * (borrowed * of_four + 2 * of_double) +
         borrowed * mask_bytes(p);
}

}  // namespace assay::conformance
