#include "assay/spec/tensor.hpp"
#include "assay/reference/real.hpp"  // offends: No such file|not found
