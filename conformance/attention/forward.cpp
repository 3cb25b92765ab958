#include "assay/conformance/attention/forward.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "assay/parallel/loop.hpp"
#include "assay/reference/dropout.hpp"
#include "assay/reference/exp.hpp"
#include "assay/reference/mask.hpp"
#include "assay/reference/operands.hpp"
#include "assay/reference/position_bias.hpp"
#include "assay/reference/side_inputs.hpp"
#include "assay/spec/dtype.hpp"
#include "attention/variant/variant.hpp"

namespace assay::conformance {
namespace {

using reference::Forward;
using Problem = spec::FlashAttentionScoreGrad::Problem;
using Inputs = spec::FlashAttentionScoreGrad::Inputs;

constexpr std::int64_t panel_keys = 64;  ///< keys whose scores are computed together
constexpr std::int64_t task_queries =
    16;  ///< queries of one task: their scores of all keys fit in the cache
constexpr std::int64_t step = 4;  ///< rows and terms that `add_product` takes at a time
constexpr std::size_t lanes = 8;  ///< partial maxima and sums of a row

std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}
std::vector<double> zeros(std::int64_t count) {
  return std::vector<double>(static_cast<std::size_t>(count), 0.0);
}

/// A row-major matrix that is part of a buffer.
template <class Element>
struct Matrix {
  Element* first;
  std::int64_t stride;
};

/// Computes c += a b. a and c have `step` rows, `depth` is a multiple of step, and `width` is at
/// most panel_keys. Each element of c is summed in the order of ascending k.
#if defined(__x86_64__)
[[gnu::target_clones("avx512f", "avx2", "default")]]
#endif
void add_product(Matrix<const double> a, Matrix<const double> b, Matrix<double> c,
                 std::int64_t depth, std::int64_t width) {
  // The sums are in a local array. The compiler then sees that no store changes an operand.
  double sum[step][panel_keys];
  for (std::int64_t r = 0; r < step; ++r) std::copy_n(c.first + r * c.stride, width, sum[r]);
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
  for (std::int64_t r = 0; r < step; ++r) std::copy_n(sum[r], width, c.first + r * c.stride);
}

/// The scores of one query, stored in panels (blocks of panel_keys keys).
struct ScoreRow {
  double* first;
  std::int64_t panels;
  double* panel(std::int64_t p) const { return first + p * task_queries * panel_keys; }
};

/// Scales scores in one of three ways. Without bias: scale * product. With bias: scale * (product +
/// bias) or scale * product + bias. `bias` has one element per key of a `ScoreRow`.
struct Scaling {
  double scale;
  const double* bias;  ///< null: none
  bool bias_first;
};

/// Scales the scores, replaces masked ones by -infinity and returns the maximum.
#if defined(__x86_64__)
[[gnu::target_clones("avx512f", "avx2", "default")]]
#endif
double
mask_scores(ScoreRow row, const std::uint8_t* keep, Scaling scaling) {
  constexpr double excluded = -std::numeric_limits<double>::infinity();
  const double scale = scaling.scale;
  double largest[lanes];
  std::fill(largest, largest + lanes, excluded);
  for (std::int64_t p = 0; p < row.panels; ++p, keep += panel_keys) {
    double* __restrict score = row.panel(p);
    const double* bias = scaling.bias == nullptr ? nullptr : scaling.bias + p * panel_keys;
    if (bias == nullptr) {
      for (std::int64_t j = 0; j < panel_keys; ++j)
        score[j] = keep[j] != 0 ? scale * score[j] : excluded;
    } else if (scaling.bias_first) {
      for (std::int64_t j = 0; j < panel_keys; ++j)
        score[j] = keep[j] != 0 ? scale * (score[j] + bias[j]) : excluded;
    } else {
      for (std::int64_t j = 0; j < panel_keys; ++j)
        score[j] = keep[j] != 0 ? scale * score[j] + bias[j] : excluded;
    }
    for (std::int64_t j = 0; j < panel_keys; j += lanes)
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const double candidate = score[j + static_cast<std::int64_t>(lane)];
        largest[lane] = candidate > largest[lane] ? candidate : largest[lane];
      }
  }
  return *std::max_element(largest, largest + lanes);
}

/// Replaces the scores by exp(score - max) and returns their sum.
#if defined(__x86_64__)
[[gnu::target_clones("avx512f", "avx2", "default")]]
#endif
double
exponentiate(ScoreRow row, double max) {
  double sums[lanes] = {};
  for (std::int64_t p = 0; p < row.panels; ++p) {
    double* __restrict score = row.panel(p);
    for (std::int64_t j = 0; j < panel_keys; ++j) score[j] = reference::exp(score[j] - max);
    for (std::int64_t j = 0; j < panel_keys; j += lanes)
      for (std::size_t lane = 0; lane < lanes; ++lane)
        sums[lane] += score[j + static_cast<std::int64_t>(lane)];
  }
  double sum = 0.0;
  for (const double lane : sums) sum += lane;
  return sum;
}

/// Returns one sink per query head. Returns an empty list if the inputs contain no sink.
std::vector<double> sinks_of(const Inputs& inputs) {
  std::vector<double> sinks;
  if (!inputs.sink) return sinks;
  for (const std::int64_t element : spec::viewed_elements(*inputs.sink))
    sinks.push_back(inputs.sink->load(element));
  return sinks;
}

/// Panels (blocks of panel_keys keys) of one head, converted to double. A panel is converted when
/// it is first used, and again if another one has taken its place: a long head does not fit.
class Panels {
 public:
  /// `elements`: the size of a panel.
  explicit Panels(std::int64_t elements) : elements_(std::max<std::int64_t>(1, elements)) {}

  /// Forgets the panels of the head before. `count`: the number of panels of the new head.
  void begin(std::int64_t count) {
    constexpr std::int64_t most_elements = std::int64_t{1} << 21;
    const std::int64_t most = std::max<std::int64_t>(1, most_elements / elements_);
    kept_.assign(static_cast<std::size_t>(std::min(count, most)), -1);
    const std::size_t size = kept_.size() * static_cast<std::size_t>(elements_);
    if (numbers_.size() < size) numbers_.resize(size);
  }
  /// Returns a panel. If it is not in memory, calls fill(first element), which must set all
  /// numbers.
  template <class Fill>
  const double* get(std::int64_t panel, const Fill& fill) {
    const std::size_t place = static_cast<std::size_t>(panel) % kept_.size();
    double* first = numbers_.data() + place * static_cast<std::size_t>(elements_);
    if (std::exchange(kept_[place], panel) != panel) fill(first);
    return first;
  }

 private:
  std::int64_t elements_;
  std::vector<std::int64_t> kept_;  ///< the panel at each place, or -1
  std::vector<double> numbers_;
};

/// The data of one thread: panels of the current head, and scratch memory.
class Worker {
 public:
  Worker(const Problem& problem, const Inputs& inputs, const attention::Variant* variant,
         Forward<double>& result)
      : p_(problem),
        variant_(variant),
        side_(reference::side_inputs(inputs)),
        mask_(problem, side_.atten_mask),
        position_bias_(problem, side_.pse_shift),
        dropout_(problem, side_.drop_mask),
        result_(result),
        query_(inputs.query, problem.input_layout, query_extents(problem)),
        key_(inputs.key, problem.input_layout, key_extents(problem)),
        value_(inputs.value, problem.input_layout, value_extents(problem)),
        scale_(static_cast<double>(static_cast<float>(problem.scale_value))),
        sinks_(sinks_of(inputs)),
        depth_(round_up(problem.head_dim + problem.head_dim_rope, step)),
        keys_(panel_keys * depth_),
        values_(panel_keys * problem.head_dim_v),
        queries_(zeros(task_queries * depth_)),
        out_(zeros(task_queries * problem.head_dim_v)) {
    if (problem.head_dim_rope == 0) return;
    query_rope_.emplace(reference::rope_tensor(inputs.query_rope), problem.input_layout,
                        query_rope_extents(problem));
    key_rope_.emplace(reference::rope_tensor(inputs.key_rope), problem.input_layout,
                      key_rope_extents(problem));
  }

  /// Computes the output of task_queries queries of head (b, n), beginning with query `first`, or
  /// of fewer queries at the end of the sequence.
  void run(std::int64_t b, std::int64_t n, std::int64_t first) {
    begin_head(b, n / p_.group());
    load_queries(b, n, first);
    const std::int64_t last = std::min(first + task_queries, p_.length_q(b)) - 1;
    choose_panels(b, first, last);
    std::fill(out_.begin(), out_.end(), 0.0);
    for (std::int64_t panel = 0; panel < panels_; ++panel) {
      const double* keys = keys_of(first_panel_ + panel);
      for (std::int64_t r = 0; r < task_queries; r += step)
        add_product({&queries_[at(r * depth_)], depth_}, {keys, panel_keys},
                    {score(panel, r), panel_keys}, depth_, panel_keys);
    }
    for (std::int64_t i = first; i <= last; ++i) softmax(b, n, i, {score(0, i - first), panels_});
    for (std::int64_t panel = 0; panel < panels_; ++panel) {
      const double* values = values_of(first_panel_ + panel);
      for (std::int64_t r = 0; r < task_queries; r += step)
        for (std::int64_t d = 0; d < p_.head_dim_v; d += panel_keys)
          add_product({score(panel, r), panel_keys}, {values + d, p_.head_dim_v},
                      {&out_[at(r * p_.head_dim_v + d)], p_.head_dim_v}, panel_keys,
                      std::min(panel_keys, p_.head_dim_v - d));
    }
    for (std::int64_t i = first; i <= last; ++i)
      store_output(query_.extents().row(b, n, i), i - first);
  }

 private:
  static std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }
  double* score(std::int64_t panel, std::int64_t r) {
    return scores_.data() + (panel * task_queries + r) * panel_keys;
  }
  static void grow(std::vector<double>& buffer, std::int64_t count) {
    if (buffer.size() < at(count)) buffer.resize(at(count), 0.0);
  }

  void begin_head(std::int64_t b, std::int64_t kv) {
    if (b == batch_ && kv == head_) return;
    batch_ = b;
    head_ = kv;
    const std::int64_t count = round_up(p_.length_kv(b), panel_keys) / panel_keys;
    keys_.begin(count);
    values_.begin(count);
  }

  /// Calls read(j, row) for the keys of a panel; `row` is the index in the panel.
  template <class Read>
  void each_key(std::int64_t panel, const Read& read) const {
    const std::int64_t first = panel * panel_keys;
    const std::int64_t last = std::min(first + panel_keys, p_.length_kv(batch_));
    for (std::int64_t j = first; j < last; ++j) read(j, j - first);
  }

  /// Returns a panel of keys, transposed, so that a loop over keys reads adjacent elements.
  const double* keys_of(std::int64_t panel) {
    return keys_.get(panel, [&](double* to) {
      std::fill_n(to, panel_keys * depth_, 0.0);
      std::vector<double> key = zeros(p_.head_dim + p_.head_dim_rope);
      const std::span<double> rope = std::span(key).subspan(at(p_.head_dim));
      each_key(panel, [&](std::int64_t j, std::int64_t row) {
        key_.read_row(batch_, head_, j, std::span(key).first(at(p_.head_dim)));
        if (key_rope_) key_rope_->read_row(batch_, head_, j, rope);
        for (std::size_t d = 0; d < key.size(); ++d)
          to[static_cast<std::int64_t>(d) * panel_keys + row] = key[d];
      });
    });
  }

  /// Returns a panel of values. Rows after the last key are 0: they are multiplied by the
  /// probability 0, so they must be finite.
  const double* values_of(std::int64_t panel) {
    return values_.get(panel, [&](double* to) {
      std::fill_n(to, panel_keys * p_.head_dim_v, 0.0);
      each_key(panel, [&](std::int64_t j, std::int64_t row) {
        value_.read_row(batch_, head_, j, {to + row * p_.head_dim_v, at(p_.head_dim_v)});
      });
    });
  }

  void load_queries(std::int64_t b, std::int64_t n, std::int64_t first) {
    for (std::int64_t r = 0; r < task_queries && first + r < p_.length_q(b); ++r) {
      double* row = queries_.data() + r * depth_;
      query_.read_row(b, n, first + r, {row, at(p_.head_dim)});
      if (query_rope_)
        query_rope_->read_row(b, n, first + r, {row + p_.head_dim, at(p_.head_dim_rope)});
    }
  }

  /// Chooses the panels (blocks of keys) that at least one query from `first` to `last` may attend
  /// to.
  void choose_panels(std::int64_t b, std::int64_t first, std::int64_t last) {
    const std::int64_t first_key = mask_.kept_range(b, first).first;
    const std::int64_t last_key = mask_.kept_range(b, last).last;
    first_panel_ = first_key / panel_keys;
    panels_ = std::max<std::int64_t>(0, round_up(last_key, panel_keys) / panel_keys - first_panel_);
    const std::int64_t keys = panels_ * panel_keys;
    grow(scores_, task_queries * keys);
    std::fill_n(scores_.begin(), task_queries * keys, 0.0);
    keep_.assign(at(keys), 0);
    if (position_bias_.present()) bias_.assign(at(keys), 0.0);
  }

  /// Replaces scores by exp(score - max). store_output() divides by the sum later.
  void softmax(std::int64_t b, std::int64_t n, std::int64_t i, ScoreRow row) {
    const std::int64_t first = first_panel_ * panel_keys;
    const std::size_t keys = std::min(keep_.size(), at(p_.length_kv(b) - first));
    mask_.read_row(b, n, i, {keep_.data(), keys}, first);
    if (variant_ != nullptr && variant_->has_keep())
      for (std::size_t k = 0; k < keys; ++k)
        if (!variant_->keeps({b, n, i, first + static_cast<std::int64_t>(k)})) keep_[k] = 0;
    const reference::KeyRange kept = mask_.kept_range(b, i);
    Scaling scaling = {.scale = scale_, .bias = nullptr, .bias_first = p_.pse_type == 1};
    if (position_bias_.present()) {
      position_bias_.read_row(b, n, i, {bias_.data() + (kept.first - first), at(kept.size())},
                              kept.first);
      scaling.bias = bias_.data();
    }
    const bool dead = sinks_.empty() && std::find(keep_.begin(), keep_.end(), 1) == keep_.end();
    double largest = mask_scores(row, keep_.data(), scaling);
    if (variant_ != nullptr && variant_->has_score())
      largest = replace_scores({b, n, i, first}, row);
    if (!sinks_.empty()) largest = std::max(largest, sinks_[at(n)]);
    constexpr double dead_statistic = std::numeric_limits<float>::max();
    const double max = dead ? -dead_statistic : spec::round_to(largest, spec::fp32_format);
    double sum = exponentiate(row, max);
    if (!sinks_.empty()) sum += reference::exp(sinks_[at(n)] - max);
    const std::size_t index = at(query_.extents().row(b, n, i));
    result_.softmax_max[index] = max;
    result_.softmax_sum[index] = dead ? dead_statistic : sum;
    if (!dropout_.present()) return;
    for (std::int64_t j = kept.first; j < kept.last; ++j) {
      const std::int64_t column = j - first;
      if (!dropout_.keeps(b, n, i, j)) row.panel(column / panel_keys)[column % panel_keys] = 0.0;
    }
  }

  /// Replaces the unmasked scores of a row by the results of the user's formula, and returns their
  /// maximum. `at`: the first key of the row.
  double replace_scores(const reference::ScorePosition& at, ScoreRow row) const {
    double largest = -std::numeric_limits<double>::infinity();
    for (std::int64_t column = 0; column < std::ssize(keep_); ++column) {
      if (keep_[static_cast<std::size_t>(column)] == 0) continue;
      double& score = row.panel(column / panel_keys)[column % panel_keys];
      score = variant_->score_of(score, {at.b, at.n, at.i, at.j + column});
      largest = std::max(largest, score);
    }
    return largest;
  }

  void store_output(std::int64_t row, std::int64_t r) {
    const double divisor = result_.softmax_sum[at(row)] * dropout_.keep_prob();
    const std::int64_t dim = p_.head_dim_v;
    for (std::int64_t d = 0; d < dim; ++d)
      result_.attention_out[at(row * dim + d)] = out_[at(r * dim + d)] / divisor;
  }

  const Problem& p_;
  const attention::Variant* variant_;
  reference::SideInputs side_;
  reference::Mask mask_;
  reference::PositionBias position_bias_;
  reference::Dropout dropout_;
  Forward<double>& result_;
  spec::HeadView query_, key_, value_;
  std::optional<spec::HeadView> query_rope_, key_rope_;
  double scale_;
  std::vector<double> sinks_;  ///< of each query head; empty: no sink
  std::int64_t depth_;
  std::int64_t batch_ = -1, head_ = -1;
  std::int64_t first_panel_ = 0, panels_ = 0;
  Panels keys_, values_;
  std::vector<double> queries_, scores_, out_, bias_;
  std::vector<std::uint8_t> keep_;
};

/// Assigns a number to each task. A task is a block of task_queries rows. The order is: sequence,
/// then head, then block.
class Tasks {
 public:
  explicit Tasks(const Problem& p) {
    for (std::int64_t b = 0; b < p.batch; ++b) {
      per_head_.push_back(round_up(p.length_q(b), task_queries) / task_queries);
      first_.push_back(first_.back() + p.heads_q * per_head_.back());
    }
  }
  std::int64_t count() const { return first_.back(); }
  /// Returns the first row of a task.
  spec::RowPosition operator[](std::int64_t task) const {
    const auto after = std::upper_bound(first_.begin(), first_.end(), task);
    const std::int64_t b = after - first_.begin() - 1;
    const std::int64_t per_head = per_head_[static_cast<std::size_t>(b)];
    const std::int64_t inside = task - *(after - 1);
    return {.b = b, .n = inside / per_head, .s = inside % per_head * task_queries};
  }

 private:
  std::vector<std::int64_t> per_head_;     ///< of every sequence
  std::vector<std::int64_t> first_ = {0};  ///< number of each sequence's first task, then the count
};

}  // namespace

Forward<double> blocked_forward(const Problem& p, const Inputs& inputs, int threads,
                                const attention::Variant* variant) {
  const std::int64_t rows = query_extents(p).rows();
  Forward<double> result{.softmax_max = zeros(rows),
                         .softmax_sum = zeros(rows),
                         .attention_out = zeros(rows * p.head_dim_v)};
  const Tasks tasks(p);
  const auto make = [&](std::int64_t) {
    return [&tasks, worker = Worker(p, inputs, variant, result)](std::int64_t task) mutable {
      const auto [b, n, first] = tasks[task];
      worker.run(b, n, first);
    };
  };
  parallel::work_off(parallel::numbers(tasks.count()), make,
                     std::min(parallel::thread_count(threads), tasks.count()));
  return result;
}

}  // namespace assay::conformance
