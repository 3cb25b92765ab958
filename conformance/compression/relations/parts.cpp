#include "compression/relations/parts.hpp"

#include "assay/conformance/inputs/inputs.hpp"

namespace assay::conformance::compression {

spec::Tensor tensor_of_rows(const spec::Parameter& parameter, const Problem&,
                            const spec::Extents& extents, const std::vector<double>& values) {
  if (parameter.shape.size() != 2) return packed_tensor(parameter, extents, values);
  spec::Tensor tensor = guarded_tensor(parameter);
  const double* next = values.data();
  for (const std::int64_t element : spec::viewed_elements(tensor)) tensor.store(element, *next++);
  return tensor;
}

ExtentsOf extents_of_values(RowKind kind) {
  if (kind != RowKind::weight) return extents_of(kind);
  return [](const Problem& p) {
    return spec::Extents{.batch = p.compress_block_size, .heads = p.heads, .seq = 1, .dim = 1};
  };
}

Origin Origins::*origin_of(RowKind kind) {
  if (kind == RowKind::weight) return &Origins::weight;
  return kind == RowKind::token ? &Origins::token : &Origins::window;
}

}  // namespace assay::conformance::compression
