#include "assay/fixtures/file.hpp"
#include "assay/conformance/case.hpp"  // offends: No such file|not found
