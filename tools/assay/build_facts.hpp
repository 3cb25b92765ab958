#pragma once

#include <string>

namespace assay::cli {

/// What this program was built from.
struct BuildFacts {
  std::string version, compiler;
};

BuildFacts build_facts();

}  // namespace assay::cli
