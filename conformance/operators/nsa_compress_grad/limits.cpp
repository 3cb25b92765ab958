#include "operators/nsa_compress_grad/limits.hpp"

#include <string>

#include "compression/windows.hpp"
#include "operators/nsa_compress_grad/relations/relations.hpp"

namespace assay::conformance {
namespace {

using Op = spec::NsaCompressGrad;

/// Requires at least one window: no document defines the result of a kernel for empty tensors.
void require_windows(const Op::Problem& p) {
  if (compress::all_windows(p) > 0) return;
  const std::string accepted = "a sequence of at least compress_block_size, which is " +
                               std::to_string(p.compress_block_size) +
                               ": without windows output_grad is empty, see NSAC-C21";
  if (p.lengths.empty()) refuse("seq", std::to_string(p.seq), accepted);
  refuse("lengths", list_text(p.lengths), accepted);
}

}  // namespace

std::span<const FieldRange> Suite<Op>::field_ranges() {
  constexpr std::int64_t mebi = 1024 * 1024, largest_window = 65536;
  static constexpr FieldRange ranges[] = {
      {"batch", 1, mebi},
      {"heads", 1, 256},
      {"seq", 1, 16 * mebi},
      {"lengths", 0, 16 * mebi},
      {"head_dim", 1, 1024},
      {"compress_block_size", 16, largest_window, "NSAC-C10"},
      {"compress_stride", 16, largest_window, "NSAC-C11"},
      {"rows", 0, 16 * mebi},
  };
  return ranges;
}

void Suite<Op>::imply_extents(const Op::Problem& given, Op::Problem& implied) {
  if (!given.lengths.empty()) implied.batch = given.batch, implied.seq = given.seq;
}

void Suite<Op>::settle_extents(Op::Problem& p, const std::function<bool(std::string_view)>& given) {
  settle_lengths(p.batch, {"lengths", p.lengths, "seq", p.seq}, given);
}

void Suite<Op>::require_possible(const Case<Op>& c) {
  const Op::Problem& p = c.problem;
  if (p.dtype != spec::DType::fp16 && p.dtype != spec::DType::bf16)
    refuse("dtype", std::string(to_string(p.dtype)), "fp16, bf16");
  require_windows(p);
  require_relation(c, RelationParts::relations());
  require_size({.largest_tensor = largest_tensor(p),
                .bytes = memory_estimate(c),
                .with_numbers = c.track != Track::arguments},
               "batch, heads, seq or rows");
}

}  // namespace assay::conformance
