#include "assay/fixtures/file.hpp"
#include "assay/conformance/case.hpp"  // offends: No such file or directory|file not found
