#include "assay/reference/flash_attention_score_grad.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <future>
#include <limits>
#include <thread>
#include <vector>

#include "assay/reference/exp.hpp"
#include "assay/reference/mask.hpp"
#include "assay/spec/dtype.hpp"

namespace assay::reference {
namespace {

using Problem = spec::FlashAttentionScoreGrad::Problem;
using Inputs = spec::FlashAttentionScoreGrad::Inputs;

constexpr std::int64_t panel_keys = 64;    ///< keys whose scores are formed together
constexpr std::int64_t task_queries = 16;  ///< queries of one task: their scores of all keys stay in the cache
constexpr std::int64_t step = 4;           ///< rows and terms that `add_product` takes at a time
constexpr std::size_t lanes = 8;           ///< partial maxima and sums of a row

std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}
std::vector<double> zeros(std::int64_t count) {
  return std::vector<double>(static_cast<std::size_t>(count), 0.0);
}

/// A row-major matrix inside a buffer.
template <class Element>
struct Matrix {
  Element* first;
  std::int64_t stride;
};

/// c += a b for `step` rows of a and c, `depth` a multiple of step and `width` at most panel_keys. Each element of c is
/// one chain over ascending k.
#if defined(__x86_64__)
[[gnu::target_clones("avx512f", "avx2", "default")]]
#endif
void add_product(Matrix<const double> a, Matrix<const double> b, Matrix<double> c,
                 std::int64_t depth, std::int64_t width) {
  // Local, so that the compiler sees that no store changes an operand.
  double sum[step][panel_keys];
  for (std::int64_t r = 0; r < step; ++r)
    std::copy_n(c.first + r * c.stride, width, sum[r]);
  for (std::int64_t k = 0; k < depth; k += step) {
    const double* a0 = a.first + k;
    const double* a1 = a0 + a.stride;
    const double* a2 = a1 + a.stride;
    const double* a3 = a2 + a.stride;
    const double* b0 = b.first + k * b.stride;
    const double* b1 = b0 + b.stride;
    const double* b2 = b1 + b.stride;
    const double* b3 = b2 + b.stride;
    for (std::int64_t x = 0; x < width; ++x) {
      sum[0][x] = sum[0][x] + a0[0] * b0[x] + a0[1] * b1[x] + a0[2] * b2[x] + a0[3] * b3[x];
      sum[1][x] = sum[1][x] + a1[0] * b0[x] + a1[1] * b1[x] + a1[2] * b2[x] + a1[3] * b3[x];
      sum[2][x] = sum[2][x] + a2[0] * b0[x] + a2[1] * b1[x] + a2[2] * b2[x] + a2[3] * b3[x];
      sum[3][x] = sum[3][x] + a3[0] * b0[x] + a3[1] * b1[x] + a3[2] * b2[x] + a3[3] * b3[x];
    }
  }
  for (std::int64_t r = 0; r < step; ++r)
    std::copy_n(sum[r], width, c.first + r * c.stride);
}

/// The scores of one query, panel by panel.
struct ScoreRow {
  double* first;
  std::int64_t panels;
  double* panel(std::int64_t p) const { return first + p * task_queries * panel_keys; }
};

/// Scales the scores, replaces excluded ones by -infinity and gives their maximum.
#if defined(__x86_64__)
[[gnu::target_clones("avx512f", "avx2", "default")]]
#endif
double mask_scores(ScoreRow row, const std::uint8_t* keep, double scale) {
  constexpr double excluded = -std::numeric_limits<double>::infinity();
  double largest[lanes];
  std::fill(largest, largest + lanes, excluded);
  for (std::int64_t p = 0; p < row.panels; ++p, keep += panel_keys) {
    double* __restrict score = row.panel(p);
    for (std::int64_t j = 0; j < panel_keys; ++j)
      score[j] = keep[j] != 0 ? scale * score[j] : excluded;
    for (std::int64_t j = 0; j < panel_keys; j += lanes)
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const double candidate = score[j + static_cast<std::int64_t>(lane)];
        largest[lane] = candidate > largest[lane] ? candidate : largest[lane];
      }
  }
  return *std::max_element(largest, largest + lanes);
}

/// Replaces the scores by exp(score - max) and gives their sum.
#if defined(__x86_64__)
[[gnu::target_clones("avx512f", "avx2", "default")]]
#endif
double exponentiate(ScoreRow row, double max) {
  double sums[lanes] = {};
  for (std::int64_t p = 0; p < row.panels; ++p) {
    double* __restrict score = row.panel(p);
    for (std::int64_t j = 0; j < panel_keys; ++j) score[j] = exp(score[j] - max);
    for (std::int64_t j = 0; j < panel_keys; j += lanes)
      for (std::size_t lane = 0; lane < lanes; ++lane)
        sums[lane] += score[j + static_cast<std::int64_t>(lane)];
  }
  double sum = 0.0;
  for (const double lane : sums) sum += lane;
  return sum;
}

/// One thread's work: its copy of the head that it is at, and its scratch.
class Worker {
 public:
  Worker(const Problem& problem, const Inputs& inputs, const Mask& mask, Forward<double>& result)
      : p_(problem),
        mask_(mask),
        result_(result),
        query_(inputs.query, problem.input_layout, query_extents(problem)),
        key_(inputs.key, problem.input_layout, key_extents(problem)),
        value_(inputs.value, problem.input_layout, value_extents(problem)),
        scale_(static_cast<double>(static_cast<float>(problem.scale_value))),
        depth_(round_up(problem.head_dim, step)),
        keys_(round_up(problem.seq_kv, panel_keys)),
        key_panels_(zeros(keys_ * depth_)),
        values_(zeros(keys_ * problem.head_dim_v)),
        queries_(zeros(task_queries * depth_)),
        scores_(zeros(task_queries * keys_)),
        out_(zeros(task_queries * problem.head_dim_v)),
        keep_(static_cast<std::size_t>(keys_), 0) {}

  /// The queries first .. first + task_queries - 1 of head (b, n), as far as they exist.
  void run(std::int64_t b, std::int64_t n, std::int64_t first) {
    load_head(b, n / p_.group());
    load_queries(b, n, first);
    const std::int64_t last = std::min(first + task_queries, p_.seq_q) - 1;
    const std::int64_t panels = round_up(mask_.kept_end(last), panel_keys) / panel_keys;
    std::fill(scores_.begin(), scores_.begin() + panels * task_queries * panel_keys, 0.0);
    std::fill(out_.begin(), out_.end(), 0.0);
    for (std::int64_t panel = 0; panel < panels; ++panel)
      for (std::int64_t r = 0; r < task_queries; r += step)
        add_product({&queries_[at(r * depth_)], depth_},
                    {&key_panels_[at(panel * panel_keys * depth_)], panel_keys},
                    {score(panel, r), panel_keys}, depth_, panel_keys);
    for (std::int64_t i = first; i <= last; ++i) softmax(b, n, i, {score(0, i - first), panels});
    for (std::int64_t r = 0; r < task_queries; r += step)
      for (std::int64_t d = 0; d < p_.head_dim_v; d += panel_keys)
        for (std::int64_t panel = 0; panel < panels; ++panel)
          add_product({score(panel, r), panel_keys},
                      {&values_[at(panel * panel_keys * p_.head_dim_v + d)], p_.head_dim_v},
                      {&out_[at(r * p_.head_dim_v + d)], p_.head_dim_v}, panel_keys,
                      std::min(panel_keys, p_.head_dim_v - d));
    for (std::int64_t i = first; i <= last; ++i) {
      const std::int64_t index = (b * p_.heads_q + n) * p_.seq_q + i;
      for (std::int64_t d = 0; d < p_.head_dim_v; ++d)
        result_.attention_out[at(index * p_.head_dim_v + d)] =
            out_[at((i - first) * p_.head_dim_v + d)] / result_.softmax_sum[at(index)];
    }
  }

 private:
  static std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }
  double* score(std::int64_t panel, std::int64_t r) {
    return &scores_[at((panel * task_queries + r) * panel_keys)];
  }

  /// Keys transposed panel by panel, so that a loop over keys is a loop over neighbours.
  void load_head(std::int64_t b, std::int64_t kv) {
    if (b == batch_ && kv == head_) return;
    batch_ = b;
    head_ = kv;
    std::vector<double> key = zeros(p_.head_dim);
    for (std::int64_t j = 0; j < p_.seq_kv; ++j) {
      key_.read_row(b, kv, j, key);
      double* panel = &key_panels_[at(j / panel_keys * panel_keys * depth_ + j % panel_keys)];
      for (std::int64_t d = 0; d < p_.head_dim; ++d) panel[d * panel_keys] = key[at(d)];
      value_.read_row(b, kv, j, {values_.data() + j * p_.head_dim_v, at(p_.head_dim_v)});
    }
  }

  void load_queries(std::int64_t b, std::int64_t n, std::int64_t first) {
    for (std::int64_t r = 0; r < task_queries && first + r < p_.seq_q; ++r)
      query_.read_row(b, n, first + r, {queries_.data() + r * depth_, at(p_.head_dim)});
  }

  void softmax(std::int64_t b, std::int64_t n, std::int64_t i, ScoreRow row) {
    mask_.read_row(b, n, i, {keep_.data(), at(p_.seq_kv)});
    const bool dead = std::find(keep_.begin(), keep_.end(), 1) == keep_.end();
    const double largest = mask_scores(row, keep_.data(), scale_);
    constexpr double dead_statistic = std::numeric_limits<float>::max();
    const double max = dead ? -dead_statistic : spec::round_to(largest, spec::fp32_format);
    const double sum = exponentiate(row, max);
    const std::size_t index = at((b * p_.heads_q + n) * p_.seq_q + i);
    result_.softmax_max[index] = max;
    result_.softmax_sum[index] = dead ? dead_statistic : sum;
  }

  const Problem& p_;
  const Mask& mask_;
  Forward<double>& result_;
  spec::HeadView query_, key_, value_;
  double scale_;
  std::int64_t depth_, keys_;
  std::int64_t batch_ = -1, head_ = -1;
  std::vector<double> key_panels_, values_, queries_, scores_, out_;
  std::vector<std::uint8_t> keep_;
};

}  // namespace

Forward<double> blocked_forward(const Problem& p, const Inputs& inputs, int threads) {
  const Mask mask(p, inputs.atten_mask ? &*inputs.atten_mask : nullptr);
  const std::int64_t rows = p.batch * p.heads_q * p.seq_q;
  Forward<double> result{.softmax_max = zeros(rows),
                         .softmax_sum = zeros(rows),
                         .attention_out = zeros(rows * p.head_dim_v)};
  const std::int64_t tasks_per_head = round_up(p.seq_q, task_queries) / task_queries;
  const std::int64_t tasks = p.batch * p.heads_q * tasks_per_head;
  std::atomic<std::int64_t> next = 0;
  const auto work = [&] {
    Worker worker(p, inputs, mask, result);
    for (std::int64_t task = next++; task < tasks; task = next++) {
      const std::int64_t head = task / tasks_per_head;
      worker.run(head / p.heads_q, head % p.heads_q, task % tasks_per_head * task_queries);
    }
  };
  const std::int64_t wanted = threads > 0 ? threads : std::thread::hardware_concurrency();
  std::vector<std::future<void>> others;
  for (std::int64_t t = 1; t < std::min(wanted, tasks); ++t)
    others.push_back(std::async(std::launch::async, work));
  work();
  for (auto& other : others) other.get();
  return result;
}

}  // namespace assay::reference
