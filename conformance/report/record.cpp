#include "report/record.hpp"

#include <cmath>
#include <utility>

#include "assay/conformance/judge/exact.hpp"

namespace assay::conformance {

spec::Tensor rounded_rows(const Expected& expected, spec::DType dtype,
                          const spec::Numerics& numerics) {
  const auto elements = static_cast<std::int64_t>(expected.value.size());
  const std::int64_t rows = expected.dim > 0 ? elements / expected.dim : 0;
  spec::Tensor rounded = spec::contiguous_tensor(dtype, {rows, expected.dim});
  for (std::int64_t k = 0; k < elements; ++k) {
    const double value = expected.value[static_cast<std::size_t>(k)];
    const double cast = std::isfinite(value)
                            ? spec::from_bits(round_dyadic(dyadic_of(value), dtype,
                                                           numerics.round_out, numerics.overflow),
                                              spec::format_of(dtype))
                            : value;
    rounded.store(k, cast);
  }
  return rounded;
}

std::vector<fixtures::ExpectedTensor> stored_expected(std::vector<Expected> all,
                                                      const DTypeOf& dtype_of,
                                                      const spec::Numerics& numerics,
                                                      const std::string& profile_name) {
  std::vector<fixtures::ExpectedTensor> stored;
  for (Expected& expected : all) {
    const spec::DType dtype = dtype_of(expected.name);
    spec::Tensor rounded = rounded_rows(expected, dtype, numerics);
    stored.push_back({.name = std::move(expected.name),
                      .profile = profile_name,
                      .value = std::move(expected.value),
                      .radius = std::move(expected.radius),
                      .tau = std::move(expected.tau),
                      .rounded = std::move(rounded),
                      .rows = std::move(expected.rows),
                      .dim = expected.dim,
                      .dtype = dtype});
  }
  return stored;
}

}  // namespace assay::conformance
