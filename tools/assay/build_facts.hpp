#pragma once

#include <string>

namespace assay::cli {

/// The facts about how this program was built.
struct BuildFacts {
  std::string version, compiler;
};

BuildFacts build_facts();

}  // namespace assay::cli
