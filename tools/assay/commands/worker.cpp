#include <unistd.h>

#include <CLI/CLI.hpp>

#include "assay/adapters/serve.hpp"
#include "assay/fixtures/foreign.hpp"
#include "commands/commands.hpp"
#include "flags/choose.hpp"

namespace assay::cli {

adapters::WorkerLimits limits(const ImplementationFlags& flags) {
  const auto machine = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  adapters::WorkerLimits limits{.bytes = machine / 2};
  if (flags.time_limit) limits.seconds = *flags.time_limit;
  if (flags.memory_limit) limits.bytes = *flags.memory_limit;
  return limits;
}

Command worker_command() {
  return {.name = worker_command_name,
          .summary = "",
          .declare = [](CLI::App& app, const Registry&) -> Action {
            app.group("");  // hidden
            const auto operator_name = std::make_shared<std::string>();
            const auto flags = std::make_shared<ImplementationFlags>();
            app.add_option("operator", *operator_name)->required();
            flags->declare(app);
            return [operator_name, flags](const Context& context) {
              if (*operator_name == reading_word) {
                fixtures::serve_foreign_file();
                return ExitCode::conformant;
              }
              with_operators(*operator_name, [&]<class Op> {
                adapters::serve<Op>([&] { return make_here<Op>(context.registry, *flags); });
              });
              return ExitCode::conformant;
            };
          }};
}

}  // namespace assay::cli
