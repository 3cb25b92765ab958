#include <string>
#include <utility>

#include "operators/flash_attention_score_grad/plan/sampling.hpp"

namespace assay::conformance::flash {
namespace {

using spec::DType;

struct Extent {
  std::int64_t batch, heads, seq_q, seq_kv, dim;
};

FlashCase bound_case(DType dtype, const Extent& e, double scale, std::string profile,
                     std::string note) {
  return {.problem = {.dtype = dtype,
                      .batch = e.batch,
                      .heads_q = e.heads,
                      .heads_kv = e.heads,
                      .seq_q = e.seq_q,
                      .seq_kv = e.seq_kv,
                      .head_dim = e.dim,
                      .head_dim_v = e.dim,
                      .scale_value = scale},
          .profile = std::move(profile),
          .note = std::move(note)};
}

}  // namespace

// What a wrong declaration changes is small and alike in many elements: it shows in their mean and
// their spread, where little else is rounded. In 16 bits the staging hides all of it but statistics
// that are not those given.
std::vector<FlashCase> declaration_cases() {
  const std::string given =
      "statistics that are not those of the data: given ones are taken as they are";
  return {
      bound_case(DType::fp32, {1, 4, 64, 8, 8}, 0.1, "foreign_statistics",
                 given + ", in one rounded number if the LSE form is declared"),
      bound_case(DType::bf16, {1, 4, 64, 64, 8}, 0.1, "foreign_statistics", given),
      bound_case(DType::fp16, {1, 4, 64, 64, 8}, 0.1, "foreign_statistics", given),
      // scale times log2 e is rounded to fp32 by almost half a unit.
      bound_case(DType::fp32, {1, 4, 64, 64, 64}, 0.09, "all_positive",
                 "scores formed with a rounded multiple of log2 e, which is declared as fused"),
      bound_case(DType::fp32, {16, 8, 1, 8, 4}, 0.1, "normal",
                 "one query, few channels: the error of exp is most of the error"),
  };
}

}  // namespace assay::conformance::flash
