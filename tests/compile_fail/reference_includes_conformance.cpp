#include "assay/conformance/judge/verdict.hpp"  // offends: No such file|not found
#include "assay/reference/mask.hpp"
