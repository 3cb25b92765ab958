#include "assay/conformance/result/verdict.hpp"  // offends: No such file|not found
#include "assay/reference/mask.hpp"
