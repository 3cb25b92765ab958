#include "assay/optimized/schedules/stream.hpp"

namespace assay::optimized::schedules {
namespace {

using device::Bytes;
using device::TaskId;

constexpr std::int64_t cube_piece = 65536, vector_piece = 32768;

void read_by_cube(device::Instructions& code, std::int64_t pieces) {
  for (std::int64_t piece = 0; piece < pieces; ++piece)
    code.load({.rows = 1, .row = {cube_piece}}, {}, /*missing=*/1);
}

void change_by_vector(device::Instructions& code, const Stream& stream, std::int64_t pieces) {
  device::Ring buffers(2);
  const auto ratio =
      static_cast<double>(stream.written.count) / static_cast<double>(stream.read.count);
  const Bytes out = {static_cast<std::int64_t>(ratio * static_cast<double>(vector_piece))};
  for (std::int64_t piece = 0; piece < pieces; ++piece) {
    const TaskId loaded = code.vector_load({vector_piece}, {buffers.take()}, /*missing=*/1);
    const TaskId computed =
        code.compute(vector(code.spec(), *stream.operation, {vector_piece}), {loaded});
    buffers.give(code.vector_store(out, {computed}, /*missing=*/1));
  }
}

}  // namespace

Modelled model(const Stream& stream, const device::Spec& device) {
  const bool by_cube = stream.operation == nullptr;
  const auto cores = static_cast<std::int64_t>(device.cores.cube.value);
  const std::int64_t of_round = cores * (by_cube ? cube_piece : 2 * vector_piece);
  const device::Share share = share_of(device, cores);
  const Rounds rounds = run_rounds(
      device, share, static_cast<double>(device::ceil_divide(stream.read.count, of_round)), 16,
      [&](device::Instructions& code, std::int64_t pieces) {
        if (by_cube)
          read_by_cube(code, pieces);
        else
          change_by_vector(code, stream, pieces);
      });
  return finished(rounds, device.overheads.launch_cube.value, share, 0, device);
}

}  // namespace assay::optimized::schedules
