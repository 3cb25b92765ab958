#include "assay/device/units.hpp"
#include "assay/spec/dtype.hpp"  // offends: No such file|not found
