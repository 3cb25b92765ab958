#pragma once

#include <string>

namespace assay::cli {

/// Facts about the build of this program.
struct BuildFacts {
  std::string version, compiler;
};

BuildFacts build_facts();

}  // namespace assay::cli
