#include <gtest/gtest.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <set>
#include <vector>

#include "assay/conformance/operators/flash_attention_score_grad.hpp"
#include "view_values.hpp"

namespace assay::conformance {
namespace {

using Op = spec::FlashAttentionScoreGrad;
using FlashCase = Case<Op>;
using spec::DropMask;
using spec::DType;
using spec::HeadView;
using spec::Layout;
using spec::MaskShape;
using spec::PseShape;
using spec::StatisticsOrder;
using spec::Striding;

/// Returns the element of the view at the row-major index `element`.
double nth(const std::vector<double>& view, std::int64_t element) {
  return view.at(static_cast<std::size_t>(element));
}

/// Makes four query heads that share key heads in pairs, and three sequences of unequal length, one
/// of them without queries.
FlashCase packed_case(spec::FlashEntryPoint entry_point = spec::FlashEntryPoint::u2) {
  FlashCase c;
  c.entry_point = entry_point;
  c.problem = {.input_layout = Layout::tnd,
               .dtype = DType::fp32,
               .batch = 3,
               .heads_q = 4,
               .heads_kv = 2,
               .seq_q = 7,
               .seq_kv = 9,
               .lengths_q = {5, 0, 7},
               .lengths_kv = {9, 3, 6},
               .head_dim = 8,
               .head_dim_v = 5,
               .scale_value = 0.25};
  c.seed = 5;
  return c;
}

/// A forward pass for one query that reads only the tensors and follows the documentation.
class Forward {
 public:
  Forward(const FlashCase& c, const Op::Inputs& inputs) : p_(c.problem), in_(inputs) {}

  struct Row {
    double max = -DBL_MAX, sum = 0;
    std::vector<double> out;
  };
  Row row(std::int64_t b, std::int64_t n, std::int64_t i) const {
    Row row{.out = std::vector<double>(static_cast<std::size_t>(p_.head_dim_v))};
    const std::int64_t keys = p_.length_kv(b), kv = n / p_.group();
    for (std::int64_t j = 0; j < keys; ++j) row.max = std::max(row.max, score(b, n, i, j));
    row.max = static_cast<float>(row.max);
    const HeadView value(in_.value, p_.input_layout, value_extents(p_));
    for (std::int64_t j = 0; j < keys; ++j) {
      const double weight = std::exp(score(b, n, i, j) - row.max);
      row.sum += weight;
      for (std::int64_t d = 0; d < p_.head_dim_v; ++d)
        row.out[static_cast<std::size_t>(d)] += weight * factor(b, n, i, j) * value(b, kv, j, d);
    }
    for (double& x : row.out) x /= row.sum;
    return row;
  }

 private:
  double score(std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t j) const {
    const std::int64_t kv = n / p_.group();
    double dot =
        product(in_.query, query_extents(p_), in_.key, key_extents(p_), {b, n, i}, {b, kv, j});
    if (in_.query_rope)
      dot += product(*in_.query_rope, query_rope_extents(p_), *in_.key_rope, key_rope_extents(p_),
                     {b, n, i}, {b, kv, j});
    if (!in_.pse_shift) return p_.scale_value * dot;
    const double bias = bias_of(b, n, i, j);
    return p_.pse_type == 1 ? p_.scale_value * (dot + bias) : p_.scale_value * dot + bias;
  }
  double product(const spec::Tensor& a, const spec::Extents& a_extents, const spec::Tensor& b,
                 const spec::Extents& b_extents, const spec::RowPosition& left,
                 const spec::RowPosition& right) const {
    const HeadView x(a, p_.input_layout, a_extents), y(b, p_.input_layout, b_extents);
    double sum = 0;
    for (std::int64_t d = 0; d < a_extents.dim; ++d)
      sum += x(left.b, left.n, left.s, d) * y(right.b, right.n, right.s, d);
    return sum;
  }
  double bias_of(std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t j) const {
    const std::vector<double> pse = values(*in_.pse_shift);
    if (p_.pse_shift == PseShape::packed_bnss)
      return nth(pse, scores_before(b) + (n * p_.length_q(b) + i) * p_.length_kv(b) + j);
    const double slope = nth(pse, n);
    const double distance = std::abs(static_cast<double>(j - i));
    return -slope * (p_.pse_type == 3 ? std::sqrt(distance) : distance);
  }
  double factor(std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t j) const {
    if (!in_.drop_mask) return 1;
    const std::int64_t e = scores_before(b) + (n * p_.length_q(b) + i) * p_.length_kv(b) + j;
    const auto byte = static_cast<unsigned>(in_.drop_mask->bytes[static_cast<std::size_t>(e / 8)]);
    return (byte >> (e % 8) & 1) != 0 ? 1 / static_cast<double>(static_cast<float>(p_.keep_prob))
                                      : 0;
  }
  std::int64_t scores_before(std::int64_t b) const {
    std::int64_t scores = 0;
    for (std::int64_t earlier = 0; earlier < b; ++earlier)
      scores += p_.heads_q * p_.length_q(earlier) * p_.length_kv(earlier);
    return scores;
  }

  const Op::Problem& p_;
  const Op::Inputs& in_;
};

/// Returns the documented position of the statistics of a row: the row-major index of the first of
/// its equal copies in the view.
std::int64_t statistics_element(const Op::Problem& p, std::int64_t b, std::int64_t n,
                                std::int64_t i) {
  std::int64_t start = 0;
  for (std::int64_t earlier = 0; earlier < b; ++earlier) start += p.length_q(earlier);
  if (p.statistics_order == StatisticsOrder::tokens_first) return 8 * ((start + i) * p.heads_q + n);
  return 8 * (p.heads_q * start + n * p.length_q(b) + i);
}

void expect_forward(const FlashCase& c) {
  const Op::Problem& p = c.problem;
  const Op::Inputs inputs = make_inputs(c);
  const Forward forward(c, inputs);
  const auto max = values(inputs.softmax_max), sum = values(inputs.softmax_sum);
  const HeadView attention(inputs.attention_in, p.input_layout, dy_extents(p));
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t n = 0; n < p.heads_q; ++n)
      for (std::int64_t i = 0; i < p.length_q(b); ++i) {
        const Forward::Row row = forward.row(b, n, i);
        const std::int64_t first = statistics_element(p, b, n, i);
        for (std::int64_t k = first; k < first + 8; ++k) {
          EXPECT_NEAR(nth(max, k), row.max, 1e-5 * (1 + std::abs(row.max)));
          EXPECT_NEAR(nth(sum, k), row.sum, 1e-5 * row.sum);
        }
        for (std::int64_t d = 0; d < p.head_dim_v; ++d)
          EXPECT_NEAR(attention(b, n, i, d), row.out[static_cast<std::size_t>(d)], 1e-5);
      }
}

TEST(Statistics, PackedSequencesStoreThemHeadByHead) {
  for (const Striding striding : {Striding::contiguous, Striding::padded, Striding::transposed}) {
    FlashCase c = packed_case();
    c.inputs = striding;
    expect_forward(c);
  }
}

TEST(Statistics, MayLieAsTheirShapeSays) {
  for (const Striding striding : {Striding::contiguous, Striding::padded, Striding::transposed}) {
    FlashCase c = packed_case(spec::FlashEntryPoint::u4);
    c.inputs = striding;
    c.problem.statistics_order = StatisticsOrder::tokens_first;
    expect_forward(c);
  }
}

TEST(Forward, AppliesRope) {
  FlashCase c = packed_case(spec::FlashEntryPoint::u3);
  c.problem.head_dim_rope = 4;
  expect_forward(c);
}

TEST(Forward, AppliesBiasBeforeAndAfterTheScale) {
  for (const std::int64_t type : {0, 1}) {
    FlashCase c = packed_case();
    c.problem.pse_type = type;
    c.problem.pse_shift = PseShape::packed_bnss;
    expect_forward(c);
  }
}

TEST(Forward, AppliesSlopes) {
  for (const std::int64_t type : {2, 3}) {
    FlashCase c = packed_case();
    c.problem.pse_type = type;
    c.problem.pse_shift = PseShape::slopes_n;
    expect_forward(c);
  }
}

TEST(Forward, AppliesDropout) {
  for (const auto& pattern : flash::drop_patterns()) {
    FlashCase c = packed_case();
    c.problem.keep_prob = 0.7;
    c.problem.drop_mask = DropMask::granules;
    c.patterns.drop = pattern.name;
    expect_forward(c);
  }
}

TEST(Inputs, EveryProfileIsFiniteInEveryFeature) {
  for (const auto& profile : Suite<Op>::profiles())
    for (const DType dtype : {DType::fp16, DType::bf16, DType::fp32}) {
      FlashCase c = packed_case(spec::FlashEntryPoint::u3);
      c.problem.dtype = dtype;
      c.problem.head_dim_rope = 8;
      c.problem.pse_shift = PseShape::packed_bn1s;
      c.problem.drop_mask = DropMask::exact;
      c.problem.keep_prob = 0.5;
      c.problem.scale_value = 0.1;
      c.profile = profile.name;
      const Op::Inputs inputs = make_inputs(c);
      visit_tensors(inputs, [&](const char* name, const spec::Tensor& tensor) {
        for (const double value : values(tensor))
          ASSERT_TRUE(std::isfinite(value)) << name << " " << profile.name;
      });
    }
}

TEST(Inputs, AreListedByTheirDocumentedNames) {
  FlashCase c = packed_case(spec::FlashEntryPoint::u1);
  const auto names = [](const auto& tensors) {
    std::set<std::string> list;
    visit_tensors(tensors, [&](const char* name, const spec::Tensor&) { list.insert(name); });
    return list;
  };
  const std::set<std::string> required = {"query",       "key",         "value",       "dy",
                                          "softmax_max", "softmax_sum", "attention_in"};
  EXPECT_EQ(names(make_inputs(c)), required);
  EXPECT_EQ(names(make_outputs(c)), (std::set<std::string>{"dq", "dk", "dv"}));
  c.entry_point = spec::FlashEntryPoint::u3;
  c.problem.head_dim_rope = 4;
  c.problem.pse_shift = PseShape::packed_bnss;
  c.problem.drop_mask = DropMask::exact;
  c.problem.atten_mask = MaskShape::ss;
  std::set<std::string> all = required;
  all.insert({"query_rope", "key_rope", "pse_shift", "drop_mask", "atten_mask"});
  EXPECT_EQ(names(make_inputs(c)), all);
  EXPECT_EQ(names(make_outputs(c)),
            (std::set<std::string>{"dq", "dk", "dv", "dq_rope", "dk_rope"}));
}

TEST(Outputs, RopeGradientsArePoisonedInTheirWholeStorage) {
  FlashCase c = packed_case(spec::FlashEntryPoint::u3);
  c.problem.head_dim_rope = 4;
  c.outputs = Striding::padded;
  const Op::Outputs outputs = make_outputs(c);
  EXPECT_EQ(outputs.dq_rope->shape, (spec::Shape{12, 4, 4}));
  EXPECT_EQ(outputs.dk_rope->shape, (spec::Shape{18, 2, 4}));
  for (const spec::Tensor* tensor : {&*outputs.dq_rope, &*outputs.dk_rope}) {
    const auto storage = static_cast<std::int64_t>(tensor->bytes.size()) / 4;
    EXPECT_GT(storage, spec::element_count(tensor->shape));
    for (std::int64_t element = 0; element < storage; ++element)
      EXPECT_TRUE(std::isnan(tensor->load(element)));
  }
}

TEST(Ropes, AreNumbersOfTheirOwn) {
  FlashCase c = packed_case(spec::FlashEntryPoint::u3);
  c.problem.head_dim_rope = 8;
  const Op::Inputs inputs = make_inputs(c);
  EXPECT_NE(values(inputs.query), values(*inputs.query_rope));
  EXPECT_NE(values(inputs.key), values(*inputs.key_rope));
  c.profile = "peaked";
  const auto larger = values(*make_inputs(c).query_rope), plain = values(*inputs.query_rope);
  for (std::size_t k = 0; k < plain.size(); ++k)
    EXPECT_FLOAT_EQ(static_cast<float>(larger[k]), static_cast<float>(4 * plain[k]));
}

}  // namespace
}  // namespace assay::conformance
