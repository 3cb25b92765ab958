#include "assay/spec/striding.hpp"

#include <utility>

namespace assay::spec {
namespace {

/// Elements between the end of one innermost row and the next, and before the first, of a padded
/// view.
constexpr std::int64_t padding = 3;

}  // namespace

void apply_striding(Parameter& parameter, Striding striding) {
  const Shape& shape = parameter.shape;
  parameter.strides = contiguous_strides(shape);
  parameter.offset = 0;
  if (shape.size() < 2 || striding == Striding::contiguous) return;
  Shape storage = shape;
  if (striding == Striding::padded) {
    storage.back() += padding;
    parameter.strides = contiguous_strides(storage);
    parameter.offset = padding;
    return;
  }
  std::swap(storage[0], storage[1]);
  parameter.strides = contiguous_strides(storage);
  std::swap(parameter.strides[0], parameter.strides[1]);
}

}  // namespace assay::spec
