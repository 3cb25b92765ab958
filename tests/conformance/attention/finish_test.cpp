#include "attention/bound/finish.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "assay/conformance/inputs/random.hpp"
#include "assay/conformance/judge/expectation.hpp"

namespace assay::conformance::attention {
namespace {

using Numbers = std::vector<double>;

/// The result arrays of one row. Each array has one entry per element.
struct Row {
  explicit Row(std::size_t count) : doubles(7, Numbers(count, -1)), floats(3) {
    for (auto& field : floats) field.assign(count, -1);
  }
  RowEntries entries() {
    return {doubles[0].data(), doubles[1].data(), doubles[2].data(), doubles[3].data(),
            doubles[4].data(), doubles[5].data(), doubles[6].data(), floats[0].data(),
            floats[1].data(),  floats[2].data()};
  }
  std::vector<Numbers> doubles;
  std::vector<std::vector<float>> floats;
};

/// Evaluates the equations one element at a time.
Row one_by_one(const SummedRow& row) {
  Row all(static_cast<std::size_t>(row.count));
  for (std::int64_t k = 0; k < row.count; ++k) {
    const engine::Element x = (*row.elements)[static_cast<std::size_t>(row.first + k)];
    put(all.entries(), k, engine::bound_of(x, row.output, row.floor[k]));
  }
  return all;
}

/// Makes numbers of all magnitudes, some of them 0, and one NaN.
engine::ElementRow elements(std::size_t count) {
  const Random random(7, 1);
  std::uint64_t next = 0;
  const auto number = [&] {
    const double x = random.normal(next++);
    return std::abs(x) < 0.25 ? 0.0
                              : std::ldexp(x, static_cast<int>(random.bits(next++) % 40) - 30);
  };
  engine::ElementRow all(count);
  for (std::size_t d = 0; d < count; ++d) {
    engine::Element x = {.value = number(),
                         .magnitude = std::abs(number()),
                         .rigorous = std::abs(number()),
                         .squares = std::abs(number()),
                         .shared = std::abs(number()),
                         .moment = std::abs(number()),
                         .drift = number(),
                         .value_squares = std::abs(number()),
                         .partials = std::abs(number()),
                         .by_constant = {number(), number()}};
    if (d + 1 == count) x.rigorous = std::numeric_limits<double>::quiet_NaN();
    all.put(d, x);
  }
  return all;
}

template <class Number>
void expect_same(const std::vector<Number>& a, const std::vector<Number>& b) {
  for (std::size_t k = 0; k < a.size(); ++k) {
    if (std::isnan(a[k]) && std::isnan(b[k])) continue;
    EXPECT_EQ(a[k], b[k]) << "element " << k;
  }
}

/// The vectorized code computes several elements at a time. With any instruction set it must give
/// the same bits as the equations for one element, and it must not write after the end of the row.
TEST(FinishRow, GivesEveryElementTheBitsThatTheEquationsGiveIt) {
  const spec::Numerics kinds[] = {{},
                                  {.partials = spec::DType::bf16},
                                  {.round_out = spec::Rounding::stochastic},
                                  {.accumulator = spec::Accumulator::fp32_truncating}};
  for (const spec::DType io : {spec::DType::bf16, spec::DType::fp16, spec::DType::fp32})
    for (const spec::Numerics& numerics : kinds)
      for (const std::int64_t count : {1, 8, 21}) {
        const Arithmetic n(numerics, io);
        constexpr std::int64_t first = 3;
        const auto sums = elements(static_cast<std::size_t>(first + count));
        const Numbers floor(static_cast<std::size_t>(count), 0x1p-20);
        SummedRow row{&sums, first, count, output_of(n, 7), floor.data()};
        row.output.factor = -0.1875;
        row.output.roundings = 2;
        row.output.chain = engine::chain_of(77, row.output);
        if (numerics.partials == spec::DType::bf16) row.output.parts = {n.u_out, n.eta_out, 3};
        row.output.scaled = 0x1p-8;
        row.output.lost = 0x1p-29;
        const Row expected = one_by_one(row);
        for (const engine::Instructions one : engine::available_instructions()) {
          Row actual(static_cast<std::size_t>(count) + 1);
          engine::read_with(one,
                            [&](auto compiled) { finish_row(compiled, row, actual.entries()); });
          for (std::size_t field = 0; field < 7; ++field) {
            EXPECT_EQ(actual.doubles[field].back(), -1);
            actual.doubles[field].pop_back();
            expect_same(actual.doubles[field], expected.doubles[field]);
          }
          for (std::size_t field = 0; field < 3; ++field) {
            EXPECT_EQ(actual.floats[field].back(), -1);
            actual.floats[field].pop_back();
            expect_same(actual.floats[field], expected.floats[field]);
          }
        }
      }
}

}  // namespace
}  // namespace assay::conformance::attention
