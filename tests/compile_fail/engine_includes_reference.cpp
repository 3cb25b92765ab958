#include "assay/engine/algebra/sum.hpp"
#include "assay/reference/real.hpp"  // offends: No such file|not found
