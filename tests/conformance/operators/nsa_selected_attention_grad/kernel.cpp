#include "kernel.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

namespace assay::conformance::testing::selected {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// `value` as the type holds it: to nearest with ties to even or away from zero, or toward zero.
float rounded(float value, spec::DType type, spec::Rounding rounding) {
  const spec::FloatFormat format = spec::format_of(type);
  const double exact = value;
  const double even = spec::round_to(exact, format);
  if (rounding == spec::Rounding::rne || !std::isfinite(even)) return static_cast<float>(even);
  const std::uint32_t bits = spec::round_to_bits(std::abs(even), format);
  const double magnitude = std::abs(exact), nearest = std::abs(even);
  const auto signed_value = [&](double x) { return static_cast<float>(std::copysign(x, exact)); };
  if (rounding == spec::Rounding::rtz)
    return signed_value(nearest > magnitude ? spec::from_bits(bits - 1, format) : nearest);
  const double above = spec::from_bits(bits + 1, format);
  return signed_value(magnitude - nearest == above - magnitude ? above : nearest);
}

/// Rows of a tensor in the order of Extents::row, in float.
struct Rows {
  Rows(const spec::Tensor& tensor, spec::Extents extents) : e(std::move(extents)) {
    const spec::HeadView view(tensor, spec::Layout::tnd, e);
    for (std::int64_t b = 0; b < e.batch; ++b)
      for (std::int64_t n = 0; n < e.heads; ++n)
        for (std::int64_t s = 0; s < e.length(b); ++s)
          for (std::int64_t d = 0; d < e.dim; ++d)
            values.push_back(static_cast<float>(view(b, n, s, d)));
  }
  explicit Rows(spec::Extents extents) : e(std::move(extents)), values(at(e.rows() * e.dim)) {}

  float* row(std::int64_t number) { return values.data() + number * e.dim; }
  const float* row(std::int64_t number) const { return values.data() + number * e.dim; }

  spec::Extents e;
  std::vector<float> values;
};

spec::Extents statistics(const Op::Problem& p) {
  spec::Extents e = query_extents(p);
  e.dim = spec::statistics_replicas;
  return e;
}

/// One key that a query sees: which one, and through which place of the list.
struct Entry {
  std::int64_t query, key, slot;  ///< rows
};

class Kernel final : public spec::Implementation<Op> {
 public:
  explicit Kernel(const Plan& plan) : plan_(plan) {}
  std::string name() const override { return "selected_model"; }

  spec::NumericsProfile numerics(const Op::Problem& p) const override {
    spec::NumericsProfile profile;
    profile.stage = plan_.stages ? p.dtype : spec::DType::fp32;
    profile.round_stage = profile.round_out = plan_.rounding;
    profile.fused = false;
    return profile;
  }

  void run(const Op::Problem& p, const Op::Inputs& inputs, Op::Outputs& outputs) override;

 private:
  std::vector<Entry> entries(const Op::Problem& p, const Rows& lists) const;
  void append_row(const Op::Problem& p, const Rows& lists, const spec::RowPosition& query,
                  std::vector<Entry>& all) const;
  bool sees(const Op::Problem& p, std::int64_t i, std::int64_t j) const;
  std::vector<float> row_terms(const Rows& grad, const Rows& out) const;
  void write(const Rows& rows, spec::Tensor& tensor, const std::vector<std::uint8_t>& listed) const;

  Plan plan_;
};

bool Kernel::sees(const Op::Problem& p, std::int64_t i, std::int64_t j) const {
  const std::int64_t size = p.selected_block_size;
  const bool masked = p.sparse_mode == 2 && p.atten_mask != spec::SelectedMask::absent;
  if (!masked && plan_.fault != Fault::mask_in_mode_0) return true;
  if (plan_.fault == Fault::mask_ignored) return true;
  if (plan_.fault == Fault::diagonal_hidden) return j < i;
  if (plan_.fault == Fault::future_seen) return j / size <= i / size;
  if (plan_.fault == Fault::whole_blocks_hidden) return j / size < i / size || j == 0;
  return j <= i;
}

void Kernel::append_row(const Op::Problem& p, const Rows& lists, const spec::RowPosition& query,
                        std::vector<Entry>& all) const {
  const std::int64_t size = p.selected_block_size, count = p.selected_block_count;
  const std::int64_t kv = query.n / p.group();
  const spec::Extents keys = key_extents(p);
  const float* list =
      lists.row(lists.e.row(query.b, plan_.fault == Fault::first_head_lists ? 0 : kv, query.s));
  std::vector<float> named;
  for (std::int64_t slot = 0; slot < count; ++slot) {
    if (plan_.fault == Fault::last_place_dropped && slot + 1 == count && count > 1) continue;
    const bool again = std::find(named.begin(), named.end(), list[slot]) != named.end();
    if (plan_.fault == Fault::counts_once && again) continue;
    named.push_back(list[slot]);
    const int times = plan_.fault == Fault::first_block_twice && slot == 0 ? 2 : 1;
    for (std::int64_t k = 0; k < size; ++k) {
      std::int64_t j = static_cast<std::int64_t>(list[slot]) * size + k;
      if (!sees(p, query.s, j)) continue;
      std::int64_t b = query.b;
      if (plan_.fault == Fault::blocks_from_start && j < keys.length(0)) b = 0;
      for (int time = 0; time < times; ++time)
        all.push_back({query_extents(p).row(query.b, query.n, query.s), keys.row(b, kv, j), slot});
    }
  }
}

std::vector<Entry> Kernel::entries(const Op::Problem& p, const Rows& lists) const {
  const spec::Extents queries = query_extents(p);
  std::vector<Entry> all;
  for (std::int64_t row = 0; row < queries.rows(); ++row)
    append_row(p, lists, queries.position(row), all);
  if (plan_.order == Order::backwards) std::ranges::reverse(all);
  if (plan_.order == Order::by_slot) std::ranges::stable_sort(all, {}, &Entry::slot);
  return all;
}

float dot(const float* a, const float* b, std::int64_t dim) {
  float sum = 0;
  for (std::int64_t d = 0; d < dim; ++d) sum += a[d] * b[d];
  return sum;
}

void add(float* to, float factor, const float* from, std::int64_t dim) {
  for (std::int64_t d = 0; d < dim; ++d) to[d] += factor * from[d];
}

void Kernel::write(const Rows& rows, spec::Tensor& tensor,
                   const std::vector<std::uint8_t>& listed) const {
  const spec::HeadIndex index(tensor, spec::Layout::tnd, rows.e);
  const auto rounding = plan_.fault == Fault::cast_truncates ? spec::Rounding::rtz : plan_.rounding;
  for (std::int64_t number = 0; number < rows.e.rows(); ++number) {
    if (plan_.fault == Fault::unlisted_unwritten && !listed.empty() && listed[at(number)] == 0)
      continue;
    const spec::RowPosition row = rows.e.position(number);
    for (std::int64_t d = 0; d < rows.e.dim; ++d) {
      const std::int64_t element = index(row.b, row.n, row.s, d);
      float value = rows.row(number)[d];
      if (plan_.fault == Fault::output_not_cleared)
        value += static_cast<float>(tensor.load(element));
      tensor.store(element, rounded(value, tensor.dtype, rounding));
    }
  }
}

std::vector<float> Kernel::row_terms(const Rows& grad, const Rows& out) const {
  std::vector<float> terms;
  for (std::int64_t row = 0; row < grad.e.rows(); ++row) {
    const spec::RowPosition place = grad.e.position(row);
    const std::int64_t other =
        plan_.fault == Fault::row_term_of_first_head ? grad.e.row(place.b, 0, place.s) : row;
    const float term = dot(grad.row(row), out.row(other), grad.e.dim);
    terms.push_back(plan_.fault == Fault::row_term_missing ? 0.0f : term);
  }
  return terms;
}

void Kernel::run(const Op::Problem& p, const Op::Inputs& inputs, Op::Outputs& outputs) {
  spec::Tensor keys = inputs.key;
  if (plan_.fault == Fault::strides_ignored)
    keys.strides = spec::contiguous_strides(keys.shape), keys.offset = 0;
  const Rows query(inputs.query, query_extents(p)), key(keys, key_extents(p)),
      value(inputs.value, value_extents(p)), out(inputs.attention_out, attention_out_extents(p)),
      grad(inputs.attention_out_grad, attention_out_extents(p)),
      lists(inputs.topk_indices, topk_extents(p)), max(inputs.softmax_max, statistics(p)),
      sum(inputs.softmax_sum, statistics(p));
  const std::int64_t group = p.group();
  float scale = static_cast<float>(p.scale_value);
  if (plan_.fault == Fault::scale_one_percent) scale *= 1.01f;
  const auto staging = plan_.fault == Fault::stage_truncates ? spec::Rounding::rtz : plan_.rounding;
  const auto stage = [&](float x) { return plan_.stages ? rounded(x, p.dtype, staging) : x; };
  const std::vector<float> delta = row_terms(grad, out);
  Rows dq(query_extents(p));
  // One sum, or one for every query head of a group.
  std::vector<Rows> dk(at(plan_.order == Order::partial ? group : 1), Rows(key_extents(p)));
  std::vector<Rows> dv(dk.size(), Rows(value_extents(p)));
  if (plan_.fault == Fault::workspace_not_zeroed) std::ranges::fill(dk[0].values, 0.5f);
  std::vector<std::uint8_t> listed(at(key.e.rows()), 0);
  for (const Entry& entry : entries(p, lists)) {
    const std::int64_t r = entry.query;
    const spec::RowPosition place = query.e.position(r);
    const bool late = plan_.fault == Fault::statistics_recomputed_late && place.s > 0;
    const float score = dot(query.row(r), key.row(entry.key), p.head_dim) * scale;
    const float total =
        plan_.fault == Fault::softmax_sum_ignored ? 1.0f : sum.row(late ? r - 1 : r)[0];
    const float prob = std::exp(score - max.row(r)[0]) / total;
    const float dprob = dot(grad.row(r), value.row(entry.key), p.head_dim_v);
    const float ds = stage(prob * (dprob - delta[at(r)]));
    const std::size_t part = dk.size() == 1 ? 0 : at(place.n % group);
    add(dq.row(r), ds, key.row(entry.key), p.head_dim);
    add(dk[part].row(entry.key), ds, query.row(r), p.head_dim);
    listed[at(entry.key)] = 1;
    if (plan_.fault == Fault::dv_of_group_head && place.n % group != group - 1) continue;
    add(dv[part].row(entry.key), stage(prob), grad.row(r), p.head_dim_v);
  }
  for (std::size_t part = 1; part < dk.size(); ++part) {
    for (std::size_t k = 0; k < dk[0].values.size(); ++k) dk[0].values[k] += dk[part].values[k];
    for (std::size_t k = 0; k < dv[0].values.size(); ++k) dv[0].values[k] += dv[part].values[k];
  }
  for (float& x : dq.values) x *= scale;
  if (plan_.fault != Fault::dk_unscaled)
    for (float& x : dk[0].values) x *= scale;
  write(dq, outputs.dq, {});
  write(dk[0], outputs.dk, listed);
  write(dv[0], outputs.dv, listed);
}

}  // namespace

std::unique_ptr<spec::Implementation<Op>> kernel(const Plan& plan) {
  return std::make_unique<Kernel>(plan);
}

}  // namespace assay::conformance::testing::selected
