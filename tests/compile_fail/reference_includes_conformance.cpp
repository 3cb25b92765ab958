#include "assay/reference/mask.hpp"
#include "assay/conformance/verdict.hpp"  // offends: No such file|not found
