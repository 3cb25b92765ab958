#include "schedules/vector_unit.hpp"

#include <algorithm>

namespace assay::optimized::schedules {
namespace {

using device::Bytes;
using device::Cycles;
using device::TaskId;

constexpr std::int64_t edge = 128, fp32_bytes = 4, repeat_bytes = 256;

double repeats(std::int64_t numbers) {
  return static_cast<double>(device::ceil_divide(numbers * fp32_bytes, repeat_bytes));
}

Cycles cycles_of(const device::Spec& spec, std::initializer_list<const device::VectorCost*> all,
                 std::int64_t numbers) {
  Cycles sum;
  for (const auto* operation : all) sum += vector(spec, *operation, {numbers * fp32_bytes});
  return sum;
}

Cycles cycles_of(const device::Spec& spec, const std::vector<Features::Operation>& all,
                 std::int64_t numbers) {
  Cycles sum;
  for (const auto operation : all)
    sum += vector(spec, spec.vector.*operation, {numbers * fp32_bytes});
  return sum;
}

}  // namespace

TaskId VectorUnit::pass(device::Ring& buffers, std::int64_t scores, Cycles cycles, TaskId ready,
                        TaskId place, const Extra& extra) {
  const Bytes size = Bytes{scores * fp32_bytes} + extra.loaded;
  const TaskId loaded = code_.vector_load(size, {buffers.take(), ready});
  const TaskId computed = code_.compute(cycles, {loaded});
  const TaskId stored = code_.vector_store(scores * element_ + extra.stored, {computed, place});
  buffers.give(stored);
  return stored;
}

TaskId VectorUnit::forward_softmax(std::int64_t scores, TaskId ready) {
  TaskId stored = device::none;
  for (std::int64_t at = 0; at < scores; at += tile_) {
    const std::int64_t numbers = std::min(tile_, scores - at);
    const Cycles cycles = Cycles{softmax_slope * repeats(numbers)} +
                          cycles_of(code_.spec(), features_.of_scores, numbers);
    const std::int64_t columns = std::min(edge, numbers);
    stored = pass(left_, numbers, cycles, ready, device::none,
                  {.loaded = features_.read(device::ceil_divide(numbers, columns), columns)});
  }
  return stored;
}

void VectorUnit::rescale(std::int64_t all, TaskId ready, Bytes results) {
  TaskId computed = device::none;
  for (std::int64_t at = 0; at < all; at += tile_) {
    const std::int64_t numbers = std::min(tile_, all - at);
    const TaskId loaded = code_.vector_load({numbers * fp32_bytes}, {right_.take(), ready});
    computed = code_.compute({rescale_slope * repeats(numbers)}, {loaded});
    right_.give(computed);
  }
  code_.vector_store(results, {computed});
}

TaskId VectorUnit::gradient(std::int64_t scores, TaskId ready, const Places& places) {
  const auto& spec = code_.spec();
  const auto& v = spec.vector;
  TaskId stored = device::none;
  for (std::int64_t at = 0; at < scores; at += tile_) {
    const std::int64_t numbers = std::min(tile_, scores - at);
    // fp32 results need no cast before the store.
    const Cycles cast =
        element_.count == fp32_bytes ? Cycles{} : cycles_of(spec, {&v.cast_to_16bit}, numbers);
    // Tiles in the format of the cube (matrix) core are converted to rows before the arithmetic,
    // and results are converted back before the store.
    const Cycles formats = exchange_ == Exchange::rows
                               ? Cycles{}
                               : vector(spec, v.copy, {numbers * fp32_bytes}) +
                                     vector(spec, v.copy, numbers * element_);
    const Cycles prob = formats + cast +
                        cycles_of(spec, {&v.muls, &v.sub, &v.exp, &v.div}, numbers) +
                        cycles_of(spec, features_.of_scores, numbers);
    const Cycles dscore = formats + cast + cycles_of(spec, {&v.sub, &v.mul}, numbers) +
                          cycles_of(spec, features_.of_dprob, numbers);
    const std::int64_t columns = std::min(edge, numbers);
    const std::int64_t rows = device::ceil_divide(numbers, columns);
    pass(left_, numbers, prob, ready, places.prob, {.loaded = features_.read(rows, columns)});
    stored = pass(right_, numbers, dscore, ready, places.dscore,
                  {.stored = {rows * features_.row_bytes_stored}});
  }
  return stored;
}

}  // namespace assay::optimized::schedules
