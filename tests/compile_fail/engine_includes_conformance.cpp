#include "assay/conformance/judge/arithmetic.hpp"  // offends: No such file|not found
#include "assay/engine/algebra/sum.hpp"
