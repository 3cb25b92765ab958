#include "sweeping/fresh_seed.hpp"

#include <fmt/format.h>

#include <cstdint>

#include "assay/conformance/case/case.hpp"
#include "flags/values.hpp"
#include "sweeping/sweep_order.hpp"

namespace assay::cli {
namespace {

/// Computes a seed from the program and the kernel. All machines compute the same seed, but every
/// kernel gets a different one.
std::uint64_t seed_of_kernel(const ImplementationFlags& implementation, const PlanFlags& plan) {
  const std::string digest = conformance::case_id(
      fmt::format("fresh data: {} {}{} {}", program_digest(), implementation.name,
                  fingerprint(implementation.name), plan.seed));
  return std::stoull(digest.substr(0, 15), nullptr, 16);
}

std::uint64_t seed_of(const DataChoice& choice, const ImplementationFlags& implementation,
                      const PlanFlags& plan, const Context& context) {
  if (choice.fresh) return *choice.fresh;
  if (choice.has_fixed_cases || !context.entropy) return 0;
  if (choice.needs_agreement) return short_seed(seed_of_kernel(implementation, plan));
  return short_seed(context.entropy());
}

}  // namespace

void declare_fresh(CLI::App& app, FreshFlag& fresh) {
  const auto read = [](const std::string& text) {
    return text == "off" ? 0 : seed_value("--fresh", text, "off");
  };
  add_value(app, "--fresh", fresh, read,
            "seed of the fresh data, which one of ten cases uses; off: no fresh data [a random "
            "seed for every sweep; off with --seed, --baseline and named cases]");
}

void choose_data(const DataChoice& choice, const ImplementationFlags& implementation,
                 PlanFlags& plan, std::string& asked, const Context& context) {
  if (!plan.lines.empty() && choice.fresh)
    throw UsageError(plan.lines.flag + " names the cases, so --fresh has no effect");
  plan.fresh_seed = seed_of(choice, implementation, plan, context);
  if (plan.fresh_seed == 0 || choice.fresh) return;
  asked += fmt::format(" --fresh={}", plan.fresh_seed);
}

void print_fresh_seed(std::uint64_t fresh_seed, const FreshFlag& given, std::ostream& err) {
  if (fresh_seed == 0 || given) return;
  err << fmt::format(
      "a tenth of the cases has data of the fresh seed {0}; --fresh={0} repeats them\n",
      fresh_seed);
}

}  // namespace assay::cli
