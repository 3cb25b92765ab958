#include <string>

#include "assay/conformance/attention/forward.hpp"
#include "assay/conformance/operators/flash_attention_score_grad.hpp"
#include "assay/reference/flash_attention_score_grad.hpp"
#include "benchmarks.hpp"
#include "shapes.hpp"

namespace assay::bench {
namespace {

using Op = spec::FlashAttentionScoreGrad;
using Case = conformance::Case<Op>;

Op::Problem square(std::int64_t seq, std::int64_t dim) {
  Op::Problem p;
  p.dtype = spec::DType::fp32;
  p.seq_q = p.seq_kv = seq;
  p.head_dim = p.head_dim_v = dim;
  p.scale_value = 0.125;
  return p;
}

/// Computes all rows of one head on one thread. Multiply-adds per pair and channel: three for dq,
/// four for dk and dv, and one for the row term (dot product of dy and attention_in), which the
/// function recomputes for each row of dk.
template <class Real>
void all_rows(Recorder& recorder, std::size_t runs, const std::string& name, std::int64_t seq) {
  const Op::Problem p = square(seq, 64);
  const Op::Inputs inputs = conformance::make_inputs(Case{.problem = p});
  const auto gradient = reference::FlashAttentionScoreGrad<Real>::from(p, inputs);
  const auto seconds = measure_in_turns({[&] {
                                          for (std::int64_t row = 0; row < seq; ++row) {
                                            gradient.dq_row(0, 0, row);
                                            gradient.dkv_row(0, 0, row);
                                          }
                                        }},
                                        runs);
  const double pairs = static_cast<double>(seq) * static_cast<double>(seq);
  recorder.host_rate({"reference." + name, name_of(p)}, {"multiply_adds", "M/s/thread"},
                     8.0 * pairs * 64 * 1e-6, seconds[0]);
}

}  // namespace

void reference_speed(Recorder& recorder, std::size_t runs) {
  all_rows<double>(recorder, runs, "double", 256);
  all_rows<reference::Quad>(recorder, runs, "quad", 32);
  all_rows<reference::Fifty>(recorder, runs, "fifty", 32);
  for (const Op::Problem& p : long_shapes(host_heads)) {
    if (p.dtype != spec::DType::fp32) continue;
    const Op::Inputs inputs = conformance::make_inputs(Case{.problem = p});
    const auto seconds = measure_in_turns({[&] { conformance::blocked_forward(p, inputs); }}, runs);
    recorder.host_rate({"conformance.blocked_forward", name_of(p)}, {"rate", "GFLOP/s"},
                       0.4 * flop_of(p) * 1e-9, seconds[0]);
  }
}

}  // namespace assay::bench
