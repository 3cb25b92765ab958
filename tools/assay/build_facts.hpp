#pragma once

#include <string>

namespace assay::cli {

/// The version of this program and the compiler that built it.
struct BuildFacts {
  std::string version, compiler;
};

BuildFacts build_facts();

}  // namespace assay::cli
