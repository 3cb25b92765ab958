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
  return unless(value >= granule && value % granule == 0,
                name + " is " + std::to_string(value) +
                    "; it must be a multiple of 16, at least 16");
}

Refusal window(const Call& call) {
  return granules("compressBlockSize", call.attributes.compress_block_size);
}

Refusal stride(const Call& call) {
  return granules("compressStride", call.attributes.compress_stride);
}

Refusal overlap(const Call& call) {
  const auto& a = call.attributes;
  return unless(a.compress_block_size > a.compress_stride,
                "compressBlockSize is " + std::to_string(a.compress_block_size) +
                    "; it must be larger than compressStride, which is " +
                    std::to_string(a.compress_stride));
}

Refusal kind_of_lengths(const Call& call) {
  return unless(call.attributes.act_seq_len_type == 0,
                "actSeqLenType is " + std::to_string(call.attributes.act_seq_len_type) +
                    "; it must be 0, sums of lengths");
}

constexpr auto invalid = spec::Status::param_invalid;
constexpr Check checks[] = {
    {"NSAC-C09", invalid, layout},  {"NSAC-C10", invalid, window},
    {"NSAC-C11", invalid, stride},  {"NSAC-C12", invalid, overlap},
    {"NSAC-C13", invalid, kind_of_lengths},
};

}  // namespace

std::span<const Check> attribute_checks() { return checks; }

}  // namespace assay::optimized::compress
