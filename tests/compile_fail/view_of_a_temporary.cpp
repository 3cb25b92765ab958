#include "assay/spec/tensor.hpp"

using namespace assay::spec;

const Extents extents = {.batch = 1, .heads = 1, .seq = 2, .dim = 3};
const Tensor tensor = contiguous_tensor(DType::fp32, shape_of(Layout::bnsd, extents));
Tensor made();
const HeadView view(tensor, Layout::bnsd, extents);
const HeadView dangling(made(), Layout::bnsd, extents);  // offends: deleted
