#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "assay/cli/command.hpp"
#include "flags/choose.hpp"
#include "flags/plan_flags.hpp"

namespace assay::cli {

/// The value of --fresh: a seed, 0 for off; nothing where it was not given.
using FreshFlag = std::optional<std::uint64_t>;

/// What decides which data the cases of a sweep have.
struct DataChoice {
  FreshFlag fresh;
  bool needs_agreement =
      false;  ///< parts of a sweep, and what takes up a store, have the same data
  bool has_fixed_cases = false;  ///< the seed was given, or the cases are named one by one
};

void declare_fresh(CLI::App& app, FreshFlag& fresh);

/// Settles the fresh seed of a sweep, and says which it is. It is drawn anew for every sweep. Parts
/// of a sweep, and what takes up a store, must agree on it: there it is made from the program, the
/// seed and the bytes of the implementation, so that no kernel can know it beforehand, either.
/// `asked` becomes a command line that repeats the sweep. Errors: UsageError.
void choose_data(const DataChoice& choice, const ImplementationFlags& implementation,
                 PlanFlags& plan, std::string& asked, const Context& context);

/// Prints the seed that the sweep drew. Nothing is drawn where one is given.
void print_fresh_seed(std::uint64_t fresh_seed, const FreshFlag& given, std::ostream& err);

}  // namespace assay::cli
