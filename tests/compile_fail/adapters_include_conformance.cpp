#include "assay/adapters/isolated.hpp"
#include "assay/conformance/case/case.hpp"  // offends: No such file|not found
