#include "assay/adapters/isolated.hpp"
#include "assay/conformance/case.hpp"  // offends: No such file or directory|file not found
