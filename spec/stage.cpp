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
      {"dropout in P as dv takes it", detail::dv_alone, dropout},
      {"dropout in dP, the row term or dS", detail::of_dscore, dropout},
      {"how value or the output of attention is read: its strides and offset", detail::of_dscore,
       inputs, true},
      {"dropout in P and dP: its bits, or 1/keep_prob", detail::of_probability, dropout},
      {"how query, key, dy, the statistics or a mask is read: its strides and offset",
       detail::of_probability, inputs, true},
      {"how tensors are read and written: their strides and offsets", detail::of_probability,
       strides},
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
