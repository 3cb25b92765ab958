#include "judge/tile_sums.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <set>

#include "../printed.hpp"
#include "assay/conformance/inputs/inputs.hpp"
#include "assay/conformance/operators.hpp"
#include "assay/conformance/report/record.hpp"
#include "assay/conformance/report/sentences.hpp"
#include "attention/bound/row_terms.hpp"
#include "attention/tiles/tiles.hpp"
#include "operators/nsa_selected_attention_grad/dense.hpp"

namespace assay::conformance {
namespace {

using Flash = spec::FlashAttentionScoreGrad;
using Selected = spec::NsaSelectedAttentionGrad;
using Compress = spec::NsaCompressGrad;

template <class Op>
Case<Op> case_of(const std::string& words) {
  return parse_case<Op>(case_words(std::string(Op::name) + " " + words, Op::name));
}

std::vector<std::int64_t> all_rows(const spec::Extents& extents) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(extents.rows()));
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

/// The tile sums (signed sums of 64 rows) of one problem, and the expected values and tolerances of
/// all its rows.
struct Both {
  Both(const attention::Dense& dense, const spec::Numerics& numerics)
      : arithmetic(numerics, dense.problem.dtype),
        rows(attention::row_terms(dense, arithmetic)),
        expected(attention::expectations(dense, arithmetic, rows,
                                         {all_rows(dense.queries), all_rows(dense.keys)})),
        sums(tiles::tile_sums(dense, arithmetic, rows, {.seed = 5})) {}

  Arithmetic arithmetic;
  attention::AllRowTerms rows;
  std::vector<Expectation> expected;
  std::vector<TileSums> sums;
};

/// Returns the sum of one field over the rows of a tile. If `is_signed`, each row has a random
/// sign. Otherwise adds magnitudes.
double over_rows(const TileSums& sums, const Tile& tile, const Expectation& e,
                 const Entries<double>& field, std::int64_t d, bool is_signed) {
  double sum = 0;
  for (std::int64_t r = 0; r < tile.count; ++r) {
    const std::int64_t row = sums.extents.row(tile.b, tile.n, tile.first + r);
    const double value = field[static_cast<std::size_t>(row * e.dim() + d)];
    sum += is_signed ? sums.signs(row) * value : std::abs(value);
  }
  return sum;
}

/// Expects that tile sums and their rigorous tolerances equal the sums over single rows. Then both
/// describe the same gradient, and no error of a row is omitted.
void expect_agreement(const Both& both) {
  ASSERT_EQ(both.sums.size(), both.expected.size());
  for (std::size_t t = 0; t < both.sums.size(); ++t) {
    const TileSums& sums = both.sums[t];
    const Expectation& e = both.expected[t];
    ASSERT_EQ(sums.name, e.name);
    ASSERT_EQ(std::ssize(sums.tiles), std::ssize(tiles_of(e.extents)));
    for (std::size_t k = 0; k < sums.tiles.size(); ++k)
      for (std::int64_t d = 0; d < e.dim(); ++d) {
        const std::size_t to = k * static_cast<std::size_t>(e.dim()) + static_cast<std::size_t>(d);
        const Tile& tile = sums.tiles[k];
        const double size = over_rows(sums, tile, e, e.value, d, false);
        ASSERT_NEAR(sums.value[to], over_rows(sums, tile, e, e.value, d, true),
                    1e-12 * size + 1e-300 + sums.radius[to])
            << sums.name << " tile " << k;
        double casts = 0;
        for (std::int64_t r = 0; r < tile.count; ++r) {
          const auto from = static_cast<std::size_t>(
              sums.extents.row(tile.b, tile.n, tile.first + r) * e.dim() + d);
          casts += both.arithmetic.out_error(std::abs(e.value[from]) + e.tau_det[from]);
        }
        const double rigorous = sums.tolerance_det[to] + sums.written_share * size + casts;
        ASSERT_GE(rigorous * (1 + 1e-6), over_rows(sums, tile, e, e.tau_det, d, false))
            << sums.name << " tile " << k;
        ASSERT_LE(sums.tolerance[to], sums.tolerance_det[to]) << sums.name << " tile " << k;
      }
  }
}

/// E35, E36.
TEST(TileSums, AreThoseOfTheRowsOfAttention) {
  for (const char* words :
       {"--seq_q=70 --seq_kv=131 --head_dim=9 --head_dim_v=7 --dtype=fp32",
        "--seq_q=130 --seq_kv=66 --heads_q=4 --heads_kv=2 --sparse_mode=3 --atten_mask=compressed "
        "--head_dim=8 --head_dim_v=8",
        "--layout=TND --entry_point=u2 --lengths_q=3,70,1 --lengths_kv=65,80,1 --head_dim=8 "
        "--head_dim_v=8 --keep_prob=0.8 --drop_mask=exact --dtype=fp16",
        "--layout=TND --entry_point=u3 --batch=1 --seq_q=66 --seq_kv=66 --head_dim=8 "
        "--head_dim_v=8 "
        "--head_dim_rope=8 --scale_value=-0.25 --sparse_mode=3 --atten_mask=compressed",
        "--entry_point=g2 --seq_q=66 --seq_kv=66 --pse_type=0 --pse_shift=BNSS --head_dim=8 "
        "--head_dim_v=8 --dtype=fp32 --profile=peaked"})
    for (const char* preset : {"ascend_a2", "cuda_flash", "torch_composed_bf16", "jax_cpu"}) {
      SCOPED_TRACE(std::string(words) + " " + preset);
      const auto c = case_of<Flash>(words);
      const Flash::Inputs inputs = make_inputs(c);
      expect_agreement(Both(attention::Dense(c.problem, inputs),
                            spec::numerics_preset(preset, c.problem.dtype)));
    }
}

void multiply(spec::Tensor& tensor, double by) {
  for (const std::int64_t element : spec::viewed_elements(tensor))
    tensor.store(element, by * tensor.load(element));
}

/// Multiplies one operand by a power of two and divides another by it. The bounds must change by
/// the same powers of two as the gradients.
TEST(TileSums, TolerancesFollowPowersOfTwo) {
  const auto c = case_of<Flash>(
      "--dtype=fp32 --heads_q=4 --heads_kv=2 --seq_q=70 --seq_kv=66 --head_dim=8 --head_dim_v=8");
  const spec::Numerics numerics = spec::numerics_preset("ascend_a2", c.problem.dtype);
  const Flash::Inputs inputs = make_inputs(c);
  const Both plain(attention::Dense(c.problem, inputs), numerics);
  // The factors by which dq, dk and dv change are in `by`.
  const auto expect = [&](const Both& moved, const std::vector<double>& by, const char* what) {
    for (std::size_t t = 0; t < by.size(); ++t)
      for (std::size_t k = 0; k < plain.sums[t].tolerance_det.size(); ++k) {
        ASSERT_NEAR(moved.sums[t].tolerance_det[k] / by[t] / plain.sums[t].tolerance_det[k], 1,
                    1e-6)
            << what << ", " << plain.sums[t].name << ' ' << k;
        ASSERT_NEAR(moved.sums[t].tolerance[k] / by[t] / plain.sums[t].tolerance[k], 1, 1e-6)
            << what << ", " << plain.sums[t].name << ' ' << k;
      }
  };
  Flash::Inputs small_keys = inputs, small_queries = inputs, small_dy = inputs;
  Flash::Problem problem = c.problem;
  problem.scale_value *= 0x1p8;
  multiply(small_keys.key, 0x1p-8);
  expect({attention::Dense(problem, small_keys), numerics}, {1, 0x1p8, 1}, "keys");
  multiply(small_queries.query, 0x1p-8);
  expect({attention::Dense(problem, small_queries), numerics}, {0x1p8, 1, 1}, "queries");
  multiply(small_dy.dy, 0x1p-8);
  expect({attention::Dense(c.problem, small_dy), numerics}, {0x1p-8, 0x1p-8, 0x1p-8}, "dy");
}

/// An fp16 number that underflows has no bound for its relative error. A scaled operand and each
/// 16-bit partial sum may lose half the smallest fp16 number.
TEST(TileSums, IncludeUnderflow) {
  const auto c = case_of<Flash>(
      "--dtype=fp16 --heads_q=4 --heads_kv=2 --seq_q=70 --seq_kv=66 --head_dim=8 --head_dim_v=8 "
      "--scale_value=1e-07 --profile=tiny_dy");
  const Flash::Inputs inputs = make_inputs(c);
  const attention::Dense dense(c.problem, inputs);
  for (const spec::Numerics& numerics :
       {spec::Numerics{.operand_scaled = true}, spec::Numerics{.partials = spec::DType::fp16},
        spec::Numerics{.partials = spec::DType::fp16, .operand_scaled = true}})
    expect_agreement(Both(dense, numerics));
}

/// With one key P is 1, so dv is dO. Each of two heads adds 2^-20 to dv in 16-bit partial sums.
TEST(TileSums, NarrowPartialsAddAnUnderflowPerHeadAndTwoMore) {
  const auto c = case_of<Flash>(
      "--dtype=fp16 --heads_q=2 --heads_kv=1 --seq_q=1 --seq_kv=1 --head_dim=1 --head_dim_v=1");
  Flash::Inputs inputs = make_inputs(c);
  for (const std::int64_t element : spec::viewed_elements(inputs.dy))
    inputs.dy.store(element, 0x1p-20);
  const attention::Dense dense(c.problem, inputs);
  const auto tolerance = [&](spec::DType partials) {
    return Both(dense, {.partials = partials}).sums[2].tolerance_det[0];
  };
  const double relative = 0x1p-11 * 0x1p-19;  // the unit of the sum over heads
  EXPECT_NEAR(tolerance(spec::DType::fp16) - tolerance(spec::DType::fp32), 4 * 0x1p-25 + relative,
              0x1p-40);
}

TEST(TileSums, AreThoseOfTheRowsOfSelectedAttention) {
  const auto c = case_of<Selected>(
      "--heads_q=4 --heads_kv=2 --seq_q=70 --seq_kv=192 --selected_block_size=32 "
      "--selected_block_count=3 --lists=duplicates --head_dim=128");
  const Selected::Inputs inputs = make_inputs(c);
  expect_agreement(Both(selected::dense_of(c.problem, inputs),
                        spec::numerics_preset("ascend_a2", c.problem.dtype)));
}

/// A row of zeros may consist of 64 fp16 numbers that underflowed. If every expected value is below
/// half of the smallest fp16 number, a wrong row of zeros cannot be distinguished from a correct
/// one.
TEST(TileSums, CountRowsInWhichZerosWouldHaveShown) {
  const spec::Extents extents{.batch = 1, .heads = 1, .seq = 64, .dim = 1};
  const auto zeros = [](std::span<const std::int64_t> rows) {
    return std::vector<double>(rows.size(), 0.0);
  };
  for (const auto& [expected_value, shown] : {std::pair{0x1p-22, 0}, std::pair{0x1p-18, 64}}) {
    TileSums sums{.name = "dq", .extents = extents, .tiles = tiles_of(extents)};
    sums.resize(1);
    sums.value[0] = expected_value;
    TensorReport report;
    std::vector<Finding> findings;
    const Verdict verdict =
        compare_tiles(sums, zeros, Arithmetic({}, spec::DType::fp16), report, findings);
    EXPECT_EQ(verdict == Verdict::conforms, shown == 0);
    EXPECT_EQ(report.rows_summed, shown);
  }
}

TEST(TileSums, LeaveTilesOutWhereAllNeedTooMuch) {
  const auto c = case_of<Flash>("--seq_q=1000 --seq_kv=900 --head_dim=4 --head_dim_v=4");
  const Flash::Inputs inputs = make_inputs(c);
  const attention::Dense dense(c.problem, inputs);
  const Arithmetic arithmetic(spec::numerics_preset("ascend_a2", c.problem.dtype), c.problem.dtype);
  const attention::AllRowTerms rows = attention::row_terms(dense, arithmetic);
  const auto all = tiles::tile_sums(dense, arithmetic, rows, {});
  const auto some = tiles::tile_sums(dense, arithmetic, rows, {.multiply_adds = 3.6e6});
  for (std::size_t t = 0; t < all.size(); ++t) {
    EXPECT_EQ(all[t].tiles.size(), t == 0 ? 16u : 15u);
    EXPECT_LE(some[t].tiles.size(), 4u);
    EXPECT_GE(some[t].tiles.size(), 3u);
    for (std::size_t k = 0; k < some[t].tiles.size(); ++k) {
      const auto same = std::ranges::find(all[t].tiles, some[t].tiles[k].first, &Tile::first);
      const auto whole = static_cast<std::size_t>(same - all[t].tiles.begin());
      EXPECT_EQ(some[t].value[k * 4 + 1], all[t].value[whole * 4 + 1]);
    }
  }
}

/// Returns the values of a tensor in all rows of a tile.
using Rows = std::vector<double>;
using Corruption = std::function<void(Rows& rows, std::int64_t dim)>;

struct Injected {
  const char* name;
  Corruption corrupt;
};

const Injected injected[] = {
    {"zeroed", [](Rows& rows, std::int64_t) { std::ranges::fill(rows, 0.0); }},
    {"negated",
     [](Rows& rows, std::int64_t) {
       for (double& x : rows) x = -x;
     }},
    {"half as large",
     [](Rows& rows, std::int64_t) {
       for (double& x : rows) x /= 2;
     }},
    {"shifted by a row",
     [](Rows& rows, std::int64_t dim) { std::ranges::rotate(rows, rows.begin() + dim); }},
    {"the first row in every one",
     [](Rows& rows, std::int64_t dim) {
       for (std::size_t k = static_cast<std::size_t>(dim); k < rows.size(); ++k)
         rows[k] = rows[k - static_cast<std::size_t>(dim)];
     }},
};

/// The outputs of a kernel with exact gradients that are only rounded to the output type, for a
/// case with one head. The elements of each tensor are in row order. In one tensor, the rows that
/// are not judged one by one are corrupted.
template <class Op>
class PerfectOutputs {
 public:
  PerfectOutputs(Case<Op> c, const spec::Numerics& numerics) : judged_(c) {
    for (const Expected& e : judged_.expected(numerics))
      rows_[e.name] = {e.rows.begin(), e.rows.end()};
    c.rows = 0;
    PreparedCase<Op> whole(c);
    expected_ = whole.expected(numerics);
    outputs_ = make_outputs(c);
  }

  CaseReport judge(const std::string& tensor, std::int64_t first, std::int64_t count,
                   const Corruption& corrupt, const spec::Numerics& numerics) {
    for (const Expected& e : expected_) {
      Rows values = e.value;
      if (e.name == tensor) plant(e, first, count, corrupt, values);
      write(e, values);
    }
    return judged_.judge(outputs_, numerics);
  }

 private:
  void plant(const Expected& e, std::int64_t first, std::int64_t count, const Corruption& corrupt,
             Rows& values) const {
    Rows rows;
    std::vector<std::size_t> places;
    for (std::int64_t row = first; row < first + count; ++row) {
      if (rows_.at(e.name).contains(row)) continue;
      for (std::int64_t d = 0; d < e.dim; ++d)
        places.push_back(static_cast<std::size_t>(row * e.dim + d));
    }
    for (const std::size_t place : places) rows.push_back(values[place]);
    corrupt(rows, e.dim);
    for (std::size_t k = 0; k < places.size(); ++k) values[places[k]] = rows[k];
  }

  void write(const Expected& e, const Rows& values) {
    visit_tensors(outputs_, [&](const char* name, spec::Tensor& tensor) {
      if (name != e.name) return;
      const std::vector<std::int64_t> elements = spec::viewed_elements(tensor);
      ASSERT_EQ(elements.size(), values.size());
      for (std::size_t k = 0; k < elements.size(); ++k)
        tensor.store(elements[k], tensor.dtype == spec::DType::fp32
                                      ? static_cast<double>(static_cast<float>(values[k]))
                                      : spec::round_to(values[k], spec::format_of(tensor.dtype)));
    });
  }

  PreparedCase<Op> judged_;
  std::map<std::string, std::set<std::int64_t>> rows_;
  std::vector<Expected> expected_;
  typename Op::Outputs outputs_;
};

template <class Op>
void expect_injected_tiles_caught(const std::string& words, const std::string& preset) {
  SCOPED_TRACE(words + " " + preset);
  const auto c = case_of<Op>(words);
  const spec::Numerics numerics = spec::numerics_preset(preset, c.problem.dtype);
  PerfectOutputs<Op> outputs(c, numerics);
  const CaseReport healthy = outputs.judge(
      "none", 0, 0, [](Rows&, std::int64_t) {}, numerics);
  EXPECT_LE(healthy.verdict, Verdict::conforms_weak) << testing::printed(healthy);
  for (const TensorReport& tensor : healthy.tensors) {
    EXPECT_EQ(tensor.rows_summed, tensor.rows_total) << tensor.name;
    EXPECT_LE(tensor.worst_tile, 0.9) << tensor.name;
  }
  for (const TensorReport& tensor : healthy.tensors)
    for (const Injected& bug : injected)
      for (const auto& [first, count] : {std::pair<std::int64_t, std::int64_t>{40, 64},
                                         {64, 64},
                                         {tensor.rows_total - 34, 34}}) {
        const CaseReport report = outputs.judge(tensor.name, first, count, bug.corrupt, numerics);
        EXPECT_EQ(contribution(report.verdict), ExitCode::nonconformant)
            << tensor.name << ' ' << bug.name << ' ' << first;
        bool named = false;
        for (const Finding& finding : report.findings) {
          if (finding.rule == FindingRule::note) continue;
          EXPECT_EQ(finding.rule, FindingRule::tile_sum) << sentence_of(finding, {});
          EXPECT_EQ(finding.tensor, tensor.name);
          named |= finding.s >= 0 && finding.s + 64 > first && finding.s < first + count;
        }
        EXPECT_TRUE(named) << testing::printed(report);
      }
}

TEST(TileSums, CatchInjectedTilesOutsideTheJudgedRows) {
  expect_injected_tiles_caught<Flash>(
      "--layout=BNSD --seq_q=210 --seq_kv=210 --head_dim=16 --head_dim_v=16 --rows=3", "ascend_a2");
  expect_injected_tiles_caught<Flash>(
      "--layout=BNSD --dtype=fp32 --seq_q=210 --seq_kv=210 --head_dim=16 --head_dim_v=16 --rows=3",
      "torch_fp32");
  expect_injected_tiles_caught<Flash>(
      "--layout=BNSD --dtype=fp16 --seq_q=210 --seq_kv=210 --sparse_mode=3 --atten_mask=compressed "
      "--head_dim=16 --head_dim_v=16 --rows=3",
      "cuda_flash");
  expect_injected_tiles_caught<Selected>(
      "--seq_q=210 --seq_kv=224 --head_dim=128 --selected_block_size=32 --selected_block_count=4 "
      "--rows=3",
      "ascend_a2");
}

/// E38.
TEST(TileSums, CatchInjectedTilesOfTheCompression) {
  const auto c = case_of<Compress>("--seq=300 --heads=1 --head_dim=32 --rows=3");
  const spec::Numerics numerics = spec::numerics_preset("fp32_staging", c.problem.dtype);
  PerfectOutputs<Compress> outputs(c, numerics);
  const CaseReport healthy = outputs.judge(
      "none", 0, 0, [](Rows&, std::int64_t) {}, numerics);
  EXPECT_LE(healthy.verdict, Verdict::conforms_weak) << testing::printed(healthy);
  for (const Injected& bug : injected) {
    const CaseReport report = outputs.judge("input_grad", 70, 50, bug.corrupt, numerics);
    EXPECT_EQ(contribution(report.verdict), ExitCode::nonconformant) << bug.name;
  }
}

TEST(TileSums, CatchInjectedTilesOfExactCases) {
  // Some rows are compared with exact expected values. The other rows are judged only by tile sums
  // (signed sums of 64 rows).
  const auto c = case_of<Flash>(
      "--layout=BNSD --seq_q=210 --seq_kv=210 --scale_value=0.125 --track=exact --rows=3");
  const spec::Numerics numerics = spec::numerics_preset("cuda_flash", c.problem.dtype);
  PerfectOutputs<Flash> outputs(c, numerics);
  const CaseReport healthy = outputs.judge(
      "none", 0, 0, [](Rows&, std::int64_t) {}, numerics);
  EXPECT_EQ(healthy.verdict, Verdict::conforms) << testing::printed(healthy);
  for (const TensorReport& tensor : healthy.tensors) {
    const CaseReport report = outputs.judge(
        tensor.name, 70, 50, [](Rows& rows, std::int64_t) { std::ranges::fill(rows, 0.0); },
        numerics);
    EXPECT_EQ(contribution(report.verdict), ExitCode::nonconformant) << tensor.name;
  }
}

TEST(TileSums, TheirSignsAndTilesAreThoseOfTheSeed) {
  const RowSigns one(1), two(2);
  int positive = 0, different = 0;
  for (std::int64_t row = 0; row < 1000; ++row) {
    EXPECT_EQ(std::abs(one(row)), 1);
    positive += one(row) > 0 ? 1 : 0;
    different += one(row) != two(row) ? 1 : 0;
  }
  EXPECT_NEAR(positive, 500, 80);
  EXPECT_NEAR(different, 500, 80);
  const std::vector<Tile> tiles =
      tiles_of({.batch = 2, .heads = 1, .seq = 70, .dim = 1, .ends = {70, 70}});
  ASSERT_EQ(tiles.size(), 2u);
  EXPECT_EQ(tiles[1].first, 64);
  EXPECT_EQ(tiles[1].count, 6);
}

/// Equation E37 (the error of a tile's sum that comes from casting the outputs), computed by hand
/// for one tile and one channel.
TEST(TileSums, ComparisonAddsTheCastsOfWhatWasWritten) {
  TileSums sums{.name = "dq",
                .extents = {.batch = 1, .heads = 1, .seq = 2, .dim = 1},
                .tiles = {{0, 0, 0, 2}},
                .signs = RowSigns(0)};
  sums.resize(1);
  sums.value = {0}, sums.radius = {0}, sums.tolerance = {0.25}, sums.tolerance_det = {0.5};
  const Arithmetic bf16(spec::numerics_preset("cuda_flash", spec::DType::bf16), spec::DType::bf16);
  // Two rows with the value 1 are added with equal or different signs. Each cast has an error of at
  // most 2^-8.
  const double same = sums.signs(0) * sums.signs(1);
  const auto verdict = [&](double first, double second, double lambda, double& ratio) {
    TensorReport report;
    std::vector<Finding> findings;
    sums.lambda = lambda;
    const Verdict v = compare_tiles(
        sums,
        [&](auto) {
          return std::vector<double>{first, same * second};
        },
        bf16, report, findings);
    ratio = report.worst_tile;
    EXPECT_EQ(report.rows_summed, 2);
    EXPECT_EQ(findings.empty(), v == Verdict::conforms);
    return v;
  };
  double ratio = 0;
  EXPECT_EQ(verdict(1, -0.75, 0, ratio), Verdict::conforms);
  EXPECT_NEAR(ratio, 0.25 / (0.25 + 0x1p-8 + 0x1p-9), 1e-9);
  EXPECT_EQ(verdict(1, -0.625, 0, ratio), Verdict::statistical_unconfirmed);
  EXPECT_EQ(verdict(1, -0.25, 0, ratio), Verdict::nonconformant_proven);
  verdict(1, -1 + 0x1p-4, 0.5, ratio);  // the statistical part: 0.5 sqrt(2^-16 + 2^-18)
  EXPECT_NEAR(ratio, 0x1p-4 / (0.25 + 0.5 * std::sqrt(0x1p-16 + 0x1p-18)), 1e-9);
}

}  // namespace
}  // namespace assay::conformance
