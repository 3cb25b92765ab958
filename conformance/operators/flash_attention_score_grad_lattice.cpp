#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "assay/conformance/lattice.hpp"
#include "flash_attention_score_grad_lattice_sums.hpp"

namespace assay::conformance {
namespace lattice {
namespace {

constexpr int most_attempts = 64;

struct Built {
  Group group;
  Gradients gradients;
  std::int64_t live_rows = 0, muted_rows = 0;
};

void thin(Thinning& thinning, Sum sum) {
  switch (sum) {
    case Sum::score:
    case Sum::dk:
      ++thinning.dk;
      return;
    case Sum::row_term:
    case Sum::dv:
      ++thinning.dv;
      return;
    case Sum::dscore:
    case Sum::dq:
      ++thinning.dq;
      return;
  }
}

struct Rows {
  std::vector<std::int64_t> query, key;
};

Built build(const Plan& plan, const GroupBuilder& builder, const Rows& judged) {
  Thinning thinning;
  std::string reason;
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    Built built{.group = builder.build(thinning)};
    const Sums sums(plan, built.group);
    const std::optional<Excess> excess = sums.excess();
    if (!excess) {
      built.gradients = sums.gradients(judged.query, judged.key);
      for (const Row& row : built.group.rows) {
        built.live_rows += row.choice.dead() ? 0 : 1;
        built.muted_rows += row.muted ? 1 : 0;
      }
      return built;
    }
    reason = excess->text;
    thin(thinning, excess->sum);
  }
  throw NoLattice(reason + ", after " + std::to_string(most_attempts) +
                  " attempts with smaller numbers");
}

/// The input tensors, written row by row. Every number must be one of the element type.
class Writer {
 public:
  Writer(const Case<Op>& c, const Plan& plan);

  void write(std::int64_t b, std::int64_t kv, const Group& group);
  Op::Inputs take() && { return std::move(inputs_); }

 private:
  void put(spec::Tensor& tensor, std::int64_t element, double value) const;
  void write_statistics(std::int64_t b, std::int64_t n, std::int64_t i, const Choice& choice);
  void write_output(std::int64_t b, std::int64_t n, std::int64_t i, const Row& row,
                    const Matrix& value);

  Op::Problem problem_;
  double query_unit_;
  Op::Inputs inputs_;
};

Op::Inputs empty_inputs(const Case<Op>& c) {
  const auto call = spec::call_of(c.problem, c.surface, c.product, c.inputs, c.outputs);
  const Op::Parameters& t = call.parameters;
  return {.query = guarded_tensor(t.query),
          .key = guarded_tensor(t.key),
          .value = guarded_tensor(t.value),
          .dy = guarded_tensor(t.dy),
          .softmax_max = guarded_tensor(t.softmax_max),
          .softmax_sum = guarded_tensor(t.softmax_sum),
          .attention_in = guarded_tensor(t.attention_in),
          .atten_mask = std::nullopt};
}

Writer::Writer(const Case<Op>& c, const Plan& plan)
    : problem_(c.problem),
      query_unit_(std::ldexp(1.0, query_exponent(plan.scale))),
      inputs_(empty_inputs(c)) {}

void Writer::put(spec::Tensor& tensor, std::int64_t element, double value) const {
  tensor.store(element, value);
  if (tensor.load(element) != value)
    throw NoLattice("the input " + std::to_string(value) + " is no number of " +
                    std::string(to_string(tensor.dtype)));
}

void Writer::write(std::int64_t b, std::int64_t kv, const Group& group) {
  const Op::Problem& p = problem_;
  const auto write_row = [&](spec::Tensor& tensor, const spec::HeadIndex& index,
                             std::array<std::int64_t, 2> place, std::span<const std::int32_t> row,
                             double unit) {
    for (std::size_t d = 0; d < row.size(); ++d)
      put(tensor, index(b, place[0], place[1], static_cast<std::int64_t>(d)), row[d] * unit);
  };
  const spec::HeadIndex key(inputs_.key, p.input_layout, key_extents(p));
  const spec::HeadIndex value(inputs_.value, p.input_layout, value_extents(p));
  for (std::int64_t j = 0; j < p.seq_kv; ++j) {
    write_row(inputs_.key, key, {kv, j}, group.key.row(j), 1.0);
    write_row(inputs_.value, value, {kv, j}, group.value.row(j), 1.0);
  }
  const spec::HeadIndex query(inputs_.query, p.input_layout, query_extents(p));
  const spec::HeadIndex dy(inputs_.dy, p.input_layout, dy_extents(p));
  for (std::int64_t r = 0; r < p.group() * p.seq_q; ++r) {
    const std::int64_t n = kv * p.group() + r / p.seq_q, i = r % p.seq_q;
    const Row& row = group.rows[static_cast<std::size_t>(r)];
    write_row(inputs_.query, query, {n, i}, group.query.row(r), query_unit_);
    write_row(inputs_.dy, dy, {n, i}, group.dy.row(r), 1.0);
    write_statistics(b, n, i, row.choice);
    write_output(b, n, i, row, group.value);
  }
}

void Writer::write_statistics(std::int64_t b, std::int64_t n, std::int64_t i,
                              const Choice& choice) {
  constexpr double largest = std::numeric_limits<float>::max();
  const double maximum = choice.dead() ? -largest : static_cast<double>(choice.maximum);
  const double sum = choice.dead() ? largest : static_cast<double>(choice.keys.size());
  for (std::int64_t replica = 0; replica < spec::statistics_replicas; ++replica)
    for (const auto& [tensor, value] :
         {std::pair{&inputs_.softmax_max, maximum}, std::pair{&inputs_.softmax_sum, sum}}) {
      const spec::Shape& stride = tensor->strides;
      put(*tensor,
          tensor->offset + b * stride[0] + n * stride[1] + i * stride[2] + replica * stride[3],
          value);
    }
}

void Writer::write_output(std::int64_t b, std::int64_t n, std::int64_t i, const Row& row,
                          const Matrix& value) {
  const spec::HeadIndex index(inputs_.attention_in, problem_.input_layout, dy_extents(problem_));
  for (std::int64_t d = 0; d < problem_.head_dim_v; ++d) {
    const auto channel = static_cast<std::size_t>(d);
    double output = 0;
    if (row.choice.exact) {
      output = std::ldexp(static_cast<double>(row.output[channel]), -row.log2_count);
    } else if (!row.choice.dead()) {
      for (const std::int32_t j : row.choice.keys) output += value.row(j)[channel];
      output = spec::round_to(output / static_cast<double>(row.choice.keys.size()),
                              spec::format_of(problem_.dtype));
    }
    put(inputs_.attention_in, index(b, n, i, d), output);
  }
}

/// Appends rows of (b, kv) groups; dq's heads of a group follow one another, as do those of the
/// whole batch.
void append(LatticeCase& result, Gradients&& gradients) {
  const auto move_to = [](std::vector<Dyadic>& all, const std::vector<Dyadic>& part) {
    all.insert(all.end(), part.begin(), part.end());
  };
  move_to(result.dq, gradients.dq);
  move_to(result.dk, gradients.dk);
  move_to(result.dv, gradients.dv);
}

}  // namespace
}  // namespace lattice

LatticeCase make_lattice_with_mask(const Case<spec::FlashAttentionScoreGrad>& c,
                                   const spec::NumericsProfile& numerics,
                                   std::optional<spec::Tensor> atten_mask) {
  const lattice::Plan plan = lattice::plan_of(c, numerics);
  const auto& p = c.problem;
  const reference::Mask mask(p, atten_mask ? &*atten_mask : nullptr);
  const lattice::Rows judged{.query = judged_rows(p.seq_q, c.rows, c.seed),
                             .key = judged_rows(p.seq_kv, c.rows, c.seed)};
  lattice::Writer writer(c, plan);
  LatticeCase result;
  std::int64_t live_rows = 0;
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t kv = 0; kv < p.heads_kv; ++kv) {
      const lattice::GroupBuilder builder(plan, mask, b, kv);
      lattice::Built built = lattice::build(plan, builder, judged);
      writer.write(b, kv, built.group);
      result.muted_rows += built.muted_rows;
      live_rows += built.live_rows;
      lattice::append(result, std::move(built.gradients));
    }
  if (result.muted_rows > 0 && result.muted_rows == live_rows)
    throw NoLattice("none of the " + std::to_string(live_rows) +
                    " rows with kept keys can attend to 1, 2, 4 or 8 of them");
  result.inputs = std::move(writer).take();
  result.inputs.atten_mask = std::move(atten_mask);
  result.query_rows = judged.query;
  result.key_rows = judged.key;
  return result;
}

LatticeCase make_lattice(const Case<spec::FlashAttentionScoreGrad>& c,
                         const spec::NumericsProfile& numerics) {
  return make_lattice_with_mask(c, numerics, make_mask(c));
}

}  // namespace assay::conformance
