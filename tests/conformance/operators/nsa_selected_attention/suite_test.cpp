#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "../../printed.hpp"
#include "assay/conformance/judge/prepared_case.hpp"
#include "assay/conformance/operators/nsa_selected_attention.hpp"
#include "operators/nsa_selected_attention/basis.hpp"

namespace assay::conformance {
namespace {

using Op = spec::NsaSelectedAttention;
using Problem = Op::Problem;
using spec::DType;
using testing::printed;

/// Options of the kernel in these tests. Each option makes the kernel differ from attention in fp32
/// without special features.
struct Choices {
  bool descending = false;    ///< reads every list from its end
  bool stages_p = false;      ///< rounds P to the type of the tensors before it multiplies value
  bool shifts = false;        ///< reports a maximum that is 1 too large, and the sum that fits it
  bool once = false;          ///< counts an entry that is listed twice only once
  bool all_keys = false;      ///< lets a query of mode 2 see later keys
  std::int64_t left_out = 0;  ///< blocks at the end of each list that are ignored
  double scale = 1;           ///< factor of the scores besides scale_value
  bool one_replica = false;   ///< writes one of the eight copies of a statistic
};

class SmallKernel final : public spec::Implementation<Op> {
 public:
  explicit SmallKernel(Choices choices = {}) : choices_(choices) {}

  std::string name() const override { return "small"; }
  spec::Numerics numerics(const Problem& p) const override {
    spec::Numerics n = {.order = spec::Order::fixed};
    if (choices_.stages_p) n.stage = p.dtype;
    return n;
  }
  void run(const Problem& p, const Op::Inputs& inputs, Op::Outputs& outputs) override {
    const spec::Extents rows = query_extents(p);
    for (std::int64_t row = 0; row < rows.rows(); ++row) {
      const auto [b, n, s] = rows.position(row);
      attend(p, inputs, outputs, b, n, s);
    }
  }

 private:
  using Layout = spec::Layout;

  std::vector<std::int64_t> keys(const Problem& p, const Op::Inputs& inputs, std::int64_t b,
                                 std::int64_t kv, std::int64_t s) const {
    const spec::HeadView lists(inputs.topk_indices, Layout::tnd, topk_extents(p));
    std::vector<std::int64_t> blocks;
    for (std::int64_t e = 0; e < p.selected_block_count - choices_.left_out; ++e)
      blocks.push_back(static_cast<std::int64_t>(lists(b, kv, s, e)));
    if (choices_.descending) std::reverse(blocks.begin(), blocks.end());
    if (choices_.once) {
      std::set<std::int64_t> known;
      std::erase_if(blocks, [&](std::int64_t block) { return !known.insert(block).second; });
    }
    const std::int64_t last =
        p.sparse_mode == 2 && !choices_.all_keys ? s : p.length_kv(b);  // the last key that is seen
    std::vector<std::int64_t> seen;
    for (const std::int64_t block : blocks)
      for (std::int64_t k = 0; k < p.selected_block_size; ++k)
        if (const std::int64_t key = block * p.selected_block_size + k; key <= last)
          seen.push_back(key);
    return seen;
  }

  void attend(const Problem& p, const Op::Inputs& inputs, Op::Outputs& outputs, std::int64_t b,
              std::int64_t n, std::int64_t s) const {
    const std::int64_t kv = n / p.group();
    const spec::HeadView query(inputs.query, Layout::tnd, query_extents(p));
    const spec::HeadView key(inputs.key, Layout::tnd, key_extents(p));
    const spec::HeadView value(inputs.value, Layout::tnd, value_extents(p));
    const std::vector<std::int64_t> seen = keys(p, inputs, b, kv, s);
    std::vector<float> weights;
    float maximum = -std::numeric_limits<float>::max();
    for (const std::int64_t k : seen) {
      float score = 0;
      for (std::int64_t c = 0; c < p.head_dim; ++c)
        score += static_cast<float>(query(b, n, s, c)) * static_cast<float>(key(b, kv, k, c));
      weights.push_back(score * static_cast<float>(p.scale_value * choices_.scale));
      maximum = std::max(maximum, weights.back());
    }
    if (choices_.shifts) maximum += 1;
    float sum = 0;
    for (float& w : weights) sum += w = std::exp(w - maximum);
    for (float& w : weights) w /= sum;
    if (choices_.stages_p)
      for (float& w : weights) w = static_cast<float>(spec::round_to(w, spec::format_of(p.dtype)));
    const spec::HeadIndex out(outputs.attention_out, Layout::tnd, attention_out_extents(p));
    for (std::int64_t c = 0; c < p.head_dim_v; ++c) {
      float result = 0;
      for (std::size_t k = 0; k < seen.size(); ++k)
        result += weights[k] * static_cast<float>(value(b, kv, seen[k], c));
      outputs.attention_out.store(out(b, n, s, c), result);
    }
    const bool empty = seen.empty();
    write(p, outputs.softmax_max, b, n, s, maximum);
    write(p, outputs.softmax_sum, b, n, s, empty ? std::numeric_limits<float>::max() : sum);
  }

  void write(const Problem& p, spec::Tensor& to, std::int64_t b, std::int64_t n, std::int64_t s,
             float x) const {
    std::int64_t token = s;
    for (std::int64_t before = 0; before < b; ++before) token += p.length_q(before);
    for (std::int64_t k = 0; k < (choices_.one_replica ? 1 : spec::statistics_replicas); ++k)
      to.store(to.offset + token * to.strides[0] + n * to.strides[1] + k * to.strides[2], x);
  }

  Choices choices_;
};

Case<Op> ragged(DType dtype, std::uint64_t seed, std::int64_t sparse_mode = 0) {
  Case<Op> c{.problem = {.dtype = dtype,
                         .batch = 3,
                         .heads_q = 4,
                         .heads_kv = 2,
                         .seq_q = 9,
                         .seq_kv = 96,
                         .lengths_q = {3, 9, 1},
                         .lengths_kv = {32, 96, 64},
                         .head_dim = 128,
                         .sparse_mode = sparse_mode,
                         .atten_mask = sparse_mode == 2 ? spec::SelectedMask::compressed
                                                        : spec::SelectedMask::absent},
             .seed = seed};
  return c;
}

void expect_healthy(const Case<Op>& c) {
  for (const Choices& choices :
       {Choices{}, Choices{.descending = true}, Choices{.stages_p = true}}) {
    SmallKernel kernel(choices);
    const CaseReport report = judge_case(c, kernel);
    EXPECT_EQ(report.verdict, Verdict::conforms) << command_line(c) << '\n' << printed(report);
    EXPECT_TRUE(report.value_case);
  }
}

void expect_caught(const Case<Op>& c, const Choices& choices) {
  SmallKernel kernel(choices);
  const Verdict verdict = judge_case(c, kernel).verdict;
  EXPECT_NE(verdict, Verdict::conforms) << command_line(c);
}

TEST(SelectedForward, HealthyKernelsConformInEveryProfileAndTrack) {
  for (const DType dtype : {DType::fp16, DType::bf16})
    for (const std::int64_t mode : {0, 2}) {
      for (const InputProfile& profile : Suite<Op>::profiles()) {
        Case<Op> c = ragged(dtype, 3, mode);
        c.profile = profile.name;
        expect_healthy(c);
      }
      Case<Op> c = ragged(dtype, 4, mode);
      c.track = Track::exact;
      for (const Choices& choices : {Choices{}, Choices{.descending = true}}) {
        SmallKernel kernel(choices);
        const CaseReport report = judge_case(c, kernel);
        EXPECT_EQ(report.verdict, Verdict::conforms) << printed(report);
      }
    }
}

TEST(SelectedForward, HealthyKernelsFulfilEveryRelation) {
  for (const RelationText& relation : Suite<Op>::relations()) {
    Case<Op> c = ragged(DType::bf16, 5);
    c.track = Track::relation;
    c.relation = relation.name;
    SmallKernel kernel;
    const CaseReport report = judge_case(c, kernel);
    EXPECT_FALSE(are_numbers_wrong(report.verdict)) << relation.name << '\n' << printed(report);
  }
}

TEST(SelectedForward, SimpleFaultsAreCaughtOnEveryTrack) {
  for (const Track track : {Track::bound, Track::exact})
    for (const DType dtype : {DType::fp16, DType::bf16}) {
      Case<Op> c = ragged(dtype, 6);
      c.track = track;
      expect_caught(c, {.left_out = 1});
      expect_caught(c, {.one_replica = true});
    }
  expect_caught(ragged(DType::bf16, 7, 2), {.all_keys = true});
  expect_caught(ragged(DType::bf16, 7), {.scale = 1.02});
  expect_caught(ragged(DType::bf16, 7), {.shifts = true});
}

TEST(SelectedForward, AnEntryListedTwiceCountsTwice) {
  Case<Op> c = ragged(DType::bf16, 8);
  c.patterns.lists = "duplicates";
  c.problem.selected_block_count = 8;
  c.problem.seq_kv = 192, c.problem.lengths_kv = {128, 192, 160};
  expect_healthy(c);
  expect_caught(c, {.once = true});
}

}  // namespace
}  // namespace assay::conformance
