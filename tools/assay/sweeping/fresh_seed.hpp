#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "assay/cli/command.hpp"
#include "flags/choose.hpp"
#include "flags/plan_flags.hpp"

namespace assay::cli {

/// The value of --fresh: a seed, or 0 for "off". Empty if the flag is absent.
using FreshFlag = std::optional<std::uint64_t>;

/// The properties of a sweep that determine how it selects the seed of its fresh data (inputs that
/// a kernel cannot know in advance).
struct DataChoice {
  FreshFlag fresh;
  bool needs_agreement = false;  ///< true for parts of a sweep and for a resumed store
  bool has_fixed_cases = false;  ///< the seed was given, or replay lines name the cases
};

void declare_fresh(CLI::App& app, FreshFlag& fresh);

/// Selects the seed of the fresh data (see fresh_inputs.hpp) and prints it. Normally the seed is a
/// random number. But the parts of a sweep need a common seed, and so does a resumed sweep. This
/// seed is computed from the program, the plan's seed and the bytes of the implementation. A kernel
/// cannot contain it, because it depends on the kernel's own bytes. Sets `asked` to a command line
/// that repeats the sweep. Errors: UsageError.
void choose_data(const DataChoice& choice, const ImplementationFlags& implementation,
                 PlanFlags& plan, std::string& asked, const Context& context);

/// Prints the random seed of the sweep. Prints nothing if the user gave the seed.
void print_fresh_seed(std::uint64_t fresh_seed, const FreshFlag& given, std::ostream& err);

}  // namespace assay::cli
