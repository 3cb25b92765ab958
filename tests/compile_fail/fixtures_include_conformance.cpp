#include "assay/conformance/case/case.hpp"  // offends: No such file|not found
#include "assay/fixtures/file.hpp"
