#pragma once

#include "assay/fixtures/descriptor.hpp"

namespace assay::adapters {

using fixtures::Descriptor;

}  // namespace assay::adapters
