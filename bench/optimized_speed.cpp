#include <cmath>
#include <future>
#include <vector>

#include "assay/conformance/operators/flash_attention_score_grad.hpp"
#include "assay/optimized/flash_attention_score_grad.hpp"
#include "assay/reference/flash_attention_score_grad.hpp"
#include "benchmarks.hpp"
#include "composed/composed.hpp"
#include "limits.hpp"
#include "shapes.hpp"

namespace assay::bench {
namespace {

using Op = spec::FlashAttentionScoreGrad;

/// Returns the gradient function of composed/composed.hpp that uses the widest vector instructions
/// of this machine.
void (*composed_here())(const ComposedHead&) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
    return composed_avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return composed_avx2;
#endif
  return composed_portable;
}

/// Computes every head with Eigen's products in fp32, one thread per head.
class Composed {
 public:
  Composed(const Op::Problem& problem, const Op::Inputs& inputs)
      : problem_(problem),
        operands_(reference::operands_of<float>(problem, inputs)),
        dq_(operands_.query.size()),
        dk_(operands_.key.size()),
        dv_(operands_.value.size()) {}

  void run() {
    std::vector<std::future<void>> heads;
    for (std::int64_t head = 0; head < problem_.batch * problem_.heads_q; ++head)
      heads.push_back(std::async(std::launch::async, composed_here(), at(head)));
    for (auto& head : heads) head.get();
  }

  const std::vector<float>& dq() const { return dq_; }

 private:
  ComposedHead at(std::int64_t head) {
    const std::int64_t queries = head * problem_.seq_q, keys = head * problem_.seq_kv;
    const std::int64_t dim = problem_.head_dim;
    return {.seq_q = problem_.seq_q,
            .seq_kv = problem_.seq_kv,
            .dim = dim,
            .scale = static_cast<float>(problem_.scale_value),
            .causal = problem_.sparse_mode == 2,
            .query = operands_.query.data() + queries * dim,
            .key = operands_.key.data() + keys * dim,
            .value = operands_.value.data() + keys * dim,
            .dy = operands_.dy.data() + queries * dim,
            .attention_in = operands_.attention_in.data() + queries * dim,
            .softmax_max = operands_.softmax_max.data() + queries,
            .softmax_sum = operands_.softmax_sum.data() + queries,
            .dq = dq_.data() + queries * dim,
            .dk = dk_.data() + keys * dim,
            .dv = dv_.data() + keys * dim};
  }

  Op::Problem problem_;
  reference::Operands<float> operands_;
  std::vector<float> dq_, dk_, dv_;
};

/// Returns ||x - y|| / ||y||, the relative difference of two gradients. x: a gradient in BNSD. y:
/// the same gradient, computed with Eigen's matrix products.
double relative_difference(const spec::Tensor& x, const std::vector<float>& y) {
  double squares = 0.0, norm = 0.0;
  for (std::size_t k = 0; k < y.size(); ++k) {
    const double difference = x.load(static_cast<std::int64_t>(k)) - static_cast<double>(y[k]);
    squares += difference * difference;
    norm += static_cast<double>(y[k]) * static_cast<double>(y[k]);
  }
  return std::sqrt(squares / norm);
}

}  // namespace

void optimized_speed(Recorder& recorder, std::size_t runs) {
  HostLimits limits;
  for (const Op::Problem& p : long_shapes(host_heads)) {
    const conformance::Case<Op> c{.problem = p};
    const Op::Inputs inputs = conformance::make_inputs(c);
    Op::Outputs outputs = conformance::make_outputs(c);
    using optimized::HostMode;
    for (const auto host : {HostMode::any_cpu, HostMode::avx512_bf16, HostMode::amx_bf16}) {
      const bool offered = host == HostMode::any_cpu || p.dtype == spec::DType::bf16;
      if (!offered || !optimized::is_available(host)) continue;
      const auto implementation =
          optimized::flash_attention_score_grad(device::a2(), {.host = host});
      Composed composed(p, inputs);
      const auto seconds =
          measure_in_turns({[&] { implementation->run(p, inputs, outputs); },
                            [&] { composed.run(); }, [&] { limits.multiply_add(); }},
                           runs);
      const Subject subject{"optimized.flash_attention_score_grad",
                            name_of(p) + ", host mode " + std::string(spec::to_string(host))};
      const double gflop = flop_of(p) * 1e-9;
      recorder.host_rate(subject, {"rate", "GFLOP/s"}, gflop, seconds[0]);
      recorder.host_rate(subject, {"composed_fp32_rate", "GFLOP/s"}, gflop, seconds[1]);
      limits.record_share(recorder, subject, flop_of(p), seconds[0], seconds[2]);
      std::vector<double> ratios;
      for (std::size_t run = 0; run < runs; ++run)
        ratios.push_back(seconds[1][run] / seconds[0][run]);
      recorder.samples(subject, {"times_faster_than_composed", "times"}, ratios);
      recorder.modelled(subject, {"dq_difference_to_composed", "1"},
                        relative_difference(outputs.dq, composed.dq()));
    }
  }
}

}  // namespace assay::bench
