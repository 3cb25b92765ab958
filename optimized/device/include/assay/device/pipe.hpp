#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::device {

/// The instruction queues of one cube (matrix) core and of one vector core. Each queue executes in
/// order.
enum class Pipe : std::uint8_t { cube_mte2, mte1, cube, fixpipe, vector_mte2, vector, mte3 };
inline constexpr std::size_t pipe_count = 7;

}  // namespace assay::device
