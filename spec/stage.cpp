#include "assay/spec/stage.hpp"

#include "assay/spec/operators.hpp"

namespace assay::spec {

std::span<const Stage> stages_of(std::string_view operator_name) {
  std::span<const Stage> stages;
  for_each_operator([&]<class Op> {
    if constexpr (requires { Op::stages(); })
      if (operator_name == Op::name) stages = Op::stages();
  });
  return stages;
}

}  // namespace assay::spec
