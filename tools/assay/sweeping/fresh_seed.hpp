#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "assay/cli/command.hpp"
#include "flags/choose.hpp"
#include "flags/plan_flags.hpp"

namespace assay::cli {

/// The value of --fresh: a seed, or 0 for off; nothing if the flag is absent.
using FreshFlag = std::optional<std::uint64_t>;

/// The facts from which the fresh seed of a sweep follows.
struct DataChoice {
  FreshFlag fresh;
  bool needs_agreement = false;  ///< true for parts of a sweep and for a resumed store
  bool has_fixed_cases = false;  ///< the seed was given, or replay lines name the cases
};

void declare_fresh(CLI::App& app, FreshFlag& fresh);

/// Selects the fresh seed of a sweep, and prints it. Normally the seed is drawn for every sweep.
/// Parts of a sweep, and runs that resume a store, need the same seed. For them it is computed
/// from the program, the seed and the bytes of the implementation, so a kernel cannot know it
/// before the sweep, either. Sets `asked` to a command line that repeats the sweep. Errors:
/// UsageError.
void choose_data(const DataChoice& choice, const ImplementationFlags& implementation,
                 PlanFlags& plan, std::string& asked, const Context& context);

/// Prints the seed that the sweep drew. Prints nothing if a seed was given.
void print_fresh_seed(std::uint64_t fresh_seed, const FreshFlag& given, std::ostream& err);

}  // namespace assay::cli
