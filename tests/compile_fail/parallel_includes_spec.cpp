#include "assay/parallel/loop.hpp"
#include "assay/spec/tensor.hpp"  // offends: No such file|not found
