#include <cmath>
#include <cstdint>
#include <ctime>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "assay/engine/blocks/product.hpp"
#include "block_problem.hpp"
#include "composed/product.hpp"
#include "recorder.hpp"

/// Measures the compute engine on the host: its matrix products, which alternate with Eigen's, and
/// its blocks of attention.
namespace assay::bench {
namespace {

using engine::Instructions;

/// Runs every workload `runs` times after one warm-up run; the workloads alternate. Returns the
/// processor seconds of every run, summed over all threads. On a shared machine, wall-clock time
/// would include other processes.
std::vector<std::vector<double>> processor_time_in_turns(
    const std::vector<std::function<void()>>& works, std::size_t runs) {
  std::vector<std::vector<double>> seconds(works.size());
  for (const auto& work : works) work();
  for (std::size_t run = 0; run < runs; ++run)
    for (std::size_t w = 0; w < works.size(); ++w) {
      const std::clock_t start = std::clock();
      works[w]();
      seconds[w].push_back(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    }
  return seconds;
}

template <class T>
void eigen_product(const PlainProduct<T>& product) {
#if defined(__x86_64__)
  if (engine::fastest_instructions() == Instructions::avx512) return product_avx512(product);
  if (engine::fastest_instructions() == Instructions::avx2) return product_avx2(product);
#endif
  product_portable(product);
}

template <class T>
void products(Recorder& recorder, std::size_t runs, const PlainProduct<T>& shape) {
  const auto numbers = [](std::int64_t count) {
    std::vector<T> made(static_cast<std::size_t>(count));
    for (std::size_t k = 0; k < made.size(); ++k) made[k] = static_cast<T>(std::sin(k));
    return made;
  };
  const auto a = numbers(shape.rows * shape.depth), b = numbers(shape.depth * shape.columns);
  auto c = numbers(shape.rows * shape.columns);
  PlainProduct<T> plain = shape;
  plain.a = a.data();
  plain.b = b.data();
  plain.c = c.data();
  const engine::Product<T> own = {.a = a.data(),
                                  .a_row = shape.transposed ? 1 : shape.depth,
                                  .a_depth = shape.transposed ? shape.rows : 1,
                                  .b = b.data(),
                                  .b_depth = shape.depth,
                                  .c = c.data(),
                                  .c_row = shape.columns,
                                  .rows = shape.rows,
                                  .columns = shape.columns,
                                  .depth = shape.depth};
  constexpr int repetitions = 2000;
  const auto seconds = processor_time_in_turns({[&] {
                                                  for (int k = 0; k < repetitions; ++k)
                                                    engine::multiply(own);
                                                },
                                                [&] {
                                                  for (int k = 0; k < repetitions; ++k)
                                                    eigen_product(plain);
                                                }},
                                               runs);
  const double gflop =
      2e-9 * repetitions * static_cast<double>(shape.rows * shape.columns * shape.depth);
  const Subject subject = {
      "engine product", std::string(sizeof(T) == 8 ? "fp64 " : "fp32 ") +
                            std::to_string(shape.rows) + "x" + std::to_string(shape.columns) + "x" +
                            std::to_string(shape.depth) + (shape.transposed ? " transposed" : "")};
  recorder.host_rate(subject, {"own_rate", "GFLOP/s"}, gflop, seconds[0]);
  recorder.host_rate(subject, {"eigen_rate", "GFLOP/s"}, gflop, seconds[1]);
}

/// Measures one dense head with `seq` query rows and `seq` keys. The measured kernel rounds P and
/// dS to bfloat16.
void blocks(Recorder& recorder, std::size_t runs, std::int64_t seq, std::int64_t dim) {
  engine::attention::Head head =
      engine::attention::random_head({.queries = seq,
                                      .keys = seq,
                                      .dim = dim,
                                      .dim_v = dim,
                                      .scale = 1 / std::sqrt(static_cast<double>(dim))});
  head.call.stage = head.call.stage_prob = engine::Store(8, -126, engine::Direction::nearest_even);
  const auto all = engine::Windows::all(seq, seq);
  const auto tolerance = [&](std::int64_t threads) {
    return [&, threads] { engine::attention::block_bounds(head, all, {}, {.threads = threads}); };
  };
  const auto seconds = processor_time_in_turns(
      {tolerance(1), tolerance(2),
       [&] { engine::attention::block_enclosures(head, all, {.threads = 1}); }},
      runs);
  const double pairs = static_cast<double>(seq * seq) * 1e-6;
  const Subject subject = {"engine blocks", "S" + std::to_string(seq) + " D" + std::to_string(dim)};
  recorder.host_rate(subject, {"tolerance_rate", "million pairs/s"}, pairs, seconds[0]);
  recorder.host_rate(subject, {"tolerance_rate_of_two_threads", "million pairs/s"}, pairs,
                     seconds[1]);
  recorder.host_rate(subject, {"enclosure_rate", "million pairs/s"}, pairs, seconds[2]);
}

void run() {
  Recorder recorder(std::cout, Recorder::Format::table);
  constexpr std::size_t runs = 7;
  for (const std::int64_t dim : {64, 128}) {
    products<double>(recorder, runs, {.rows = 192, .columns = 96, .depth = dim});
    products<float>(recorder, runs, {.rows = 192, .columns = 96, .depth = dim});
    products<double>(recorder, runs,
                     {.rows = 96, .columns = dim, .depth = 192, .transposed = true});
    products<float>(recorder, runs, {.rows = 96, .columns = dim, .depth = 192, .transposed = true});
  }
  for (const std::int64_t dim : {64, 128}) blocks(recorder, runs, 1024, dim);
}

}  // namespace
}  // namespace assay::bench

int main() {
  assay::bench::run();
  return 0;
}
