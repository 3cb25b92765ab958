#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "assay/cli/command.hpp"
#include "flags/choose.hpp"
#include "flags/plan_flags.hpp"

namespace assay::cli {

/// What decides which data the cases of a sweep have.
struct DataChoice {
  std::string fresh;             ///< value of --fresh; empty where it was not given
  std::string store, shard;      ///< values of these flags
  bool has_fixed_cases = false;  ///< the seed was given, or the cases are named one by one
};

void declare_fresh(CLI::App& app, std::string& fresh);

/// Settles the fresh seed of a sweep, and says which it is. It is drawn anew for every sweep. Parts
/// of a sweep, and what takes up a store, must agree on it: there it is made from the program, the
/// seed and the bytes of the implementation, so that no kernel can know it beforehand, either.
/// `asked` becomes a command line that repeats the sweep. Errors: UsageError.
void choose_data(const DataChoice& choice, const ImplementationFlags& implementation,
                 PlanFlags& plan, std::string& asked, const Context& context);

/// Prints the seed that the sweep drew. Nothing is drawn where `given`, the value of --fresh, is
/// not empty.
void print_fresh_seed(std::uint64_t fresh_seed, const std::string& given, std::ostream& err);

}  // namespace assay::cli
