#include "assay/reference/real.hpp"  // offends: No such file|not found
#include "assay/spec/tensor.hpp"
