#include <cmath>
#include <future>
#include <vector>

#include "assay/optimized/nsa_selected_attention_grad.hpp"
#include "benchmarks.hpp"
#include "composed/selected.hpp"
#include "limits.hpp"
#include "shapes.hpp"

namespace assay::bench {
namespace {

using Op = spec::NsaSelectedAttentionGrad;

/// Returns the gradient function of composed/selected.hpp that uses the widest vector instructions
/// of this machine.
void (*composed_here())(const ComposedSelection&) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
    return selected_avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return selected_avx2;
#endif
  return selected_portable;
}

/// Returns a pseudo-random number in [0, 1) from a counter (splitmix64).
double noise(std::uint64_t counter) {
  counter = (counter + 1) * 0x9E3779B97F4A7C15U;
  counter = (counter ^ counter >> 30) * 0xBF58476D1CE4E5B9U;
  counter = (counter ^ counter >> 27) * 0x94D049BB133111EBU;
  return static_cast<double>((counter ^ counter >> 31) >> 11) * 0x1p-53;
}

spec::Tensor random_tensor(const spec::Parameter& parameter, std::uint64_t seed) {
  spec::Tensor tensor = spec::contiguous_tensor(parameter.dtype, parameter.shape);
  const std::int64_t elements = spec::element_count(tensor.shape);
  for (std::int64_t k = 0; k < elements; ++k)
    tensor.store(k, 2 * noise(seed << 40 | static_cast<std::uint64_t>(k)) - 1);
  return tensor;
}

/// Makes a block list for each token: block 0, the token's own block, and random earlier blocks.
spec::Tensor lists_of(const Op::Problem& p, const spec::Parameter& parameter) {
  spec::Tensor lists = spec::contiguous_tensor(parameter.dtype, parameter.shape);
  for (std::int64_t k = 0; k < spec::element_count(lists.shape); ++k) {
    const std::int64_t slot = k % p.selected_block_count;
    const std::int64_t own = k / p.selected_block_count / p.heads_kv / p.selected_block_size;
    const auto any = static_cast<std::int64_t>(noise(static_cast<std::uint64_t>(k)) *
                                               static_cast<double>(own + 1));
    lists.store(k, static_cast<double>(slot == 0 ? 0 : slot == 1 ? own : any));
  }
  return lists;
}

spec::Call<Op> call_of(const Op::Problem& p) {
  return spec::call_of(p, spec::SelectedEntryPoint::s1, spec::Product::a2,
                       spec::Striding::contiguous, spec::Striding::contiguous);
}

/// Makes random operands. The implementation's own forward computes the other inputs of the
/// gradient.
Op::Inputs inputs_of(const Op::Problem& p, spec::Implementation<Op>& implementation) {
  const Op::Parameters t = call_of(p).parameters;
  Op::Inputs inputs{.query = random_tensor(t.query, 1),
                    .key = random_tensor(t.key, 2),
                    .value = random_tensor(t.value, 3),
                    .attention_out = random_tensor(t.attention_out, 4),
                    .attention_out_grad = random_tensor(t.attention_out_grad, 5),
                    .softmax_max = random_tensor(t.softmax_max, 6),
                    .softmax_sum = random_tensor(t.softmax_sum, 7),
                    .topk_indices = lists_of(p, t.topk_indices)};
  implementation.forward(p, inputs);
  return inputs;
}

Op::Outputs outputs_of(const Op::Problem& p) {
  const Op::Parameters t = call_of(p).parameters;
  return {
      .dq = random_tensor(t.dq, 8), .dk = random_tensor(t.dk, 9), .dv = random_tensor(t.dv, 10)};
}

/// Returns the size of the large tensors together (bytes). Each tensor is counted once.
double bytes_of(const Op::Problem& p) {
  const auto bytes = [&](const spec::Extents& extents, std::int64_t times) {
    return static_cast<double>(times * extents.rows() * extents.dim * size_of(p.dtype));
  };
  return bytes(query_extents(p), 2) + bytes(attention_out_extents(p), 2) +
         bytes(key_extents(p), 2) + bytes(value_extents(p), 2);
}

/// Computes the gradients of all key heads, each on its own thread.
class Composed {
 public:
  Composed(const Op::Problem& problem, const Op::Inputs& inputs) : problem_(problem) {
    for (std::int64_t kv = 0; kv < problem.heads_kv; ++kv) heads_.push_back(head(inputs, kv));
  }

  void run() {
    std::vector<std::future<void>> running;
    for (Head& head : heads_)
      running.push_back(std::async(std::launch::async, composed_here(), selection_of(head)));
    for (auto& one : running) one.get();
  }

  /// Returns dq of one key head, with rows in token order.
  const std::vector<float>& dq(std::size_t kv) const { return heads_[kv].dq; }

 private:
  struct Head {
    std::vector<float> query, key, value, dy, attention_out, max, sum, dq, dk, dv;
    std::vector<std::int32_t> lists;
  };

  /// Extracts `count` heads of every token, from head `first` on, with `dim` channels each.
  static std::vector<float> part(const spec::Tensor& x, std::int64_t first, std::int64_t count,
                                 std::int64_t dim) {
    std::vector<float> numbers;
    for (std::int64_t t = 0; t < x.shape[0]; ++t)
      for (std::int64_t n = first; n < first + count; ++n)
        for (std::int64_t d = 0; d < dim; ++d)
          numbers.push_back(static_cast<float>(x.load((t * x.shape[1] + n) * x.shape[2] + d)));
    return numbers;
  }

  Head head(const Op::Inputs& x, std::int64_t kv) const {
    const std::int64_t g = problem_.group(), d = problem_.head_dim, dv = problem_.head_dim_v;
    Head h = {.query = part(x.query, kv * g, g, d),
              .key = part(x.key, kv, 1, d),
              .value = part(x.value, kv, 1, dv),
              .dy = part(x.attention_out_grad, kv * g, g, dv),
              .attention_out = part(x.attention_out, kv * g, g, dv),
              .max = part(x.softmax_max, kv * g, g, 1),
              .sum = part(x.softmax_sum, kv * g, g, 1)};
    h.dq.resize(h.query.size()), h.dk.resize(h.key.size()), h.dv.resize(h.value.size());
    for (const float block : part(x.topk_indices, kv, 1, problem_.selected_block_count))
      h.lists.push_back(static_cast<std::int32_t>(block));
    return h;
  }

  ComposedSelection selection_of(Head& h) const {
    return {.tokens = problem_.seq_q,
            .group = problem_.group(),
            .keys = problem_.seq_kv,
            .dim = problem_.head_dim,
            .dim_v = problem_.head_dim_v,
            .block = problem_.selected_block_size,
            .count = problem_.selected_block_count,
            .scale = static_cast<float>(problem_.scale_value),
            .causal = problem_.sparse_mode == 2,
            .query = h.query.data(),
            .key = h.key.data(),
            .value = h.value.data(),
            .dy = h.dy.data(),
            .attention_out = h.attention_out.data(),
            .softmax_max = h.max.data(),
            .softmax_sum = h.sum.data(),
            .lists = h.lists.data(),
            .dq = h.dq.data(),
            .dk = h.dk.data(),
            .dv = h.dv.data()};
  }

  Op::Problem problem_;
  std::vector<Head> heads_;
};

/// Returns ||x - y|| / ||y||. x: dq of the first key head. y: the same dq, computed with Eigen's
/// matrix products as a user would write it.
double relative_difference(const Op::Problem& p, const spec::Tensor& dq,
                           const std::vector<float>& composed) {
  double squares = 0.0, norm = 0.0;
  std::size_t k = 0;
  for (std::int64_t t = 0; t < p.seq_q; ++t)
    for (std::int64_t d = 0; d < p.group() * p.head_dim; ++d, ++k) {
      const double y = static_cast<double>(composed[k]);
      const double difference = dq.load(t * p.heads_q * p.head_dim + d) - y;
      squares += difference * difference, norm += y * y;
    }
  return std::sqrt(squares / norm);
}

}  // namespace

void selected_speed(Recorder& recorder, std::size_t runs) {
  const auto implementation = optimized::nsa_selected_attention_grad(device::a2());
  HostLimits limits;
  for (const Op::Problem& p : selected_shapes(host_heads, 1024)) {
    const Op::Inputs inputs = inputs_of(p, *implementation);
    Op::Outputs outputs = outputs_of(p);
    Composed composed(p, inputs);
    const Subject subject{"optimized.nsa_selected_attention_grad", name_of(p)};
    limits.measure(
        recorder, subject, [&] { implementation->run(p, inputs, outputs); }, flop_of(p),
        bytes_of(p), runs);
    const auto seconds = measure_in_turns(
        {[&] { implementation->run(p, inputs, outputs); }, [&] { composed.run(); }}, runs);
    const double gflop = flop_of(p) * 1e-9;
    recorder.host_rate(subject, {"rate", "GFLOP/s"}, gflop, seconds[0]);
    recorder.host_rate(subject, {"composed_fp32_rate", "GFLOP/s"}, gflop, seconds[1]);
    std::vector<double> ratios;
    for (std::size_t run = 0; run < runs; ++run)
      ratios.push_back(seconds[1][run] / seconds[0][run]);
    recorder.samples(subject, {"times_faster_than_composed", "times"}, ratios);
    recorder.modelled(subject, {"dq_difference_to_composed", "1"},
                      relative_difference(p, outputs.dq, composed.dq(0)));
  }
}

}  // namespace assay::bench
