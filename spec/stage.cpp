#include "assay/spec/stage.hpp"

#include <array>

#include "assay/spec/attention.hpp"
#include "assay/spec/field_stages.hpp"
#include "assay/spec/operators.hpp"

namespace assay::spec {

std::span<const FieldStage> field_stages() {
  static constexpr auto dropout = std::to_array<std::string_view>({"keep_prob", "drop_mask"});
  static constexpr auto inputs = std::to_array<std::string_view>({"inputs"});
  static constexpr auto strides = std::to_array<std::string_view>({"strides"});
  static constexpr auto stages = std::to_array<FieldStage>({
      {"dropout of the P that enters dv", detail::dv_alone, dropout},
      {"dropout of dP, the row term or dS", detail::of_dscore, dropout},
      {"loading value or attention_in: strides and offset", detail::of_dscore, inputs, true},
      {"dropout of P and dP: its bits, or the factor 1/keep_prob", detail::of_probability, dropout},
      {"loading query, key, dy, the statistics or a mask: strides and offset",
       detail::of_probability, inputs, true},
      {"loading and storing tensors: strides and offsets", detail::of_probability, strides},
  });
  return stages;
}

std::span<const Stage> stages_of(std::string_view operator_name) {
  std::span<const Stage> stages;
  for_each_operator([&]<class Op> {
    if constexpr (requires { Op::stages(); })
      if (operator_name == Op::name) stages = Op::stages();
  });
  return stages;
}

}  // namespace assay::spec
