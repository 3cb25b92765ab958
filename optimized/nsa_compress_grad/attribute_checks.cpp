#include "checks/refusals.hpp"
#include "nsa_compress_grad/checks.hpp"

namespace assay::optimized::compress {
namespace {

using Call = Check::Call;

constexpr std::int64_t granule = 16;  // of window and stride

Refusal layout(const Call& call) {
  const auto& given = call.attributes.layout;
  return unless(!given || *given == "TND",
                "layout is \"" + given.value_or("") + "\"; it must be \"TND\"");
}

Refusal granules(const std::string& name, std::int64_t value) {
  return unless(value % granule == 0,
                name + " is " + std::to_string(value) + "; it must be a multiple of 16");
}

Refusal window(const Call& call) {
  return granules("compressBlockSize", call.attributes.compress_block_size);
}

Refusal stride(const Call& call) {
  return granules("compressStride", call.attributes.compress_stride);
}

/// Rejects stride 0. The documentation page does not exclude stride 0, but the windows would not
/// advance.
Refusal windows_move_on(const Call& call) {
  return at_least("compressStride", call.attributes.compress_stride, granule);
}

/// Rejects gaps between windows. The documentation contradicts itself about windows that touch each
/// other; this check accepts such windows.
Refusal no_gaps(const Call& call) {
  const auto& a = call.attributes;
  return unless(a.compress_block_size >= a.compress_stride,
                "compressBlockSize is " + std::to_string(a.compress_block_size) +
                    "; it must not be below compressStride, which is " +
                    std::to_string(a.compress_stride));
}

/// Checks actSeqLenType. 0: the array contains cumulative lengths. 1: it contains the lengths
/// themselves. The documentation page says that 1 is not supported yet, but the vendor's kernel and
/// this implementation support it.
Refusal kind_of_lengths(const Call& call) {
  return within("actSeqLenType", call.attributes.act_seq_len_type, 0, 1);
}

constexpr auto invalid = spec::Status::param_invalid;
constexpr Check checks[] = {
    {"NSAC-C09", invalid, layout},  {"NSAC-C10", invalid, window},
    {"NSAC-C11", invalid, stride},  {"NSAC-C11a", invalid, windows_move_on},
    {"NSAC-C12", invalid, no_gaps}, {"NSAC-C13", invalid, kind_of_lengths},
};

}  // namespace

std::span<const Check> attribute_checks() { return checks; }

}  // namespace assay::optimized::compress
