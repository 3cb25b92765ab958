#include "inputs/packed_rows.hpp"

#include "assay/conformance/inputs/inputs.hpp"
#include "assay/spec/attention.hpp"

namespace assay::conformance {

spec::Tensor head_tensor(const spec::Parameter& parameter, spec::Layout layout,
                         const spec::Extents& e, const std::vector<double>& values) {
  spec::Tensor tensor = guarded_tensor(parameter);
  const spec::HeadIndex at(tensor, layout, e);
  const double* value = values.data();
  for (std::int64_t b = 0; b < e.batch; ++b)
    for (std::int64_t n = 0; n < e.heads; ++n)
      for (std::int64_t s = 0; s < e.length(b); ++s, value += e.dim)
        spec::store_row(tensor, at(b, n, s, 0), at.step(),
                        {value, static_cast<std::size_t>(e.dim)});
  return tensor;
}

spec::Tensor packed_tensor(const spec::Parameter& parameter, const spec::Extents& extents,
                           const std::vector<double>& values) {
  return head_tensor(parameter, spec::Layout::tnd, extents, values);
}

spec::Tensor packed_statistics(const spec::Parameter& parameter, spec::Extents e,
                               const std::vector<double>& rows) {
  e.dim = spec::statistics_replicas;
  std::vector<double> replicas;
  for (const double row : rows) replicas.insert(replicas.end(), spec::statistics_replicas, row);
  return packed_tensor(parameter, e, replicas);
}

}  // namespace assay::conformance
