#include "assay/reference/mask.hpp"
#include "assay/conformance/verdict.hpp"  // offends: No such file or directory|file not found
