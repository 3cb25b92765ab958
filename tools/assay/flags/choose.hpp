#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assay/adapters/fenced.hpp"
#include "assay/adapters/isolated.hpp"
#include "assay/cli/registry.hpp"
#include "flags/documented_names.hpp"
#include "flags/foreign.hpp"
#include "flags/values.hpp"
#include "guide/guide.hpp"

namespace assay::cli {

/// The command that makes this program a worker; it is not listed.
inline constexpr const char* worker_command_name = "worker";
/// Instead of an operator: it reads a file of cases that comes from elsewhere.
inline constexpr const char* reading_word = "cases-file";

inline std::vector<std::string> operator_names() {
  std::vector<std::string> names;
  for_each_operator([&]<class Op> { names.emplace_back(Op::name); });
  return names;
}

/// The error that there is no operator of that name: what it may stand for, and those there are.
inline UsageError unknown_operator(const std::string& name) {
  const std::string hint = documented_hint(name);
  return UsageError("no operator '" + name + "'" +
                    guessed(hint.empty() ? meant(name, operator_names()) : hint, operator_names(),
                            "operators are"));
}

/// Calls use.template operator()<Op>() for the operator of that name; an empty name stands for all.
/// Errors: UsageError naming the operators there are.
template <class Use>
void with_operators(const std::string& name, Use&& use) {
  bool found = false;
  for_each_operator([&]<class Op> {
    if (!name.empty() && name != Op::name) return;
    found = true;
    use.template operator()<Op>();
  });
  if (!found) throw unknown_operator(name);
}

/// Which implementation a command runs, and how, as flags.
struct ImplementationFlags {
  std::string name;
  std::optional<std::int64_t> threads, memory_limit;  ///< memory in bytes
  std::optional<double> time_limit;                   ///< in seconds
  bool isolated = false, in_process = false;

  void declare(CLI::App& app) {
    app.add_option("--implementation", name,
                   "what is judged: see 'list implementations', or aclnn:LIBRARIES, "
                   "plugin:LIBRARY, command:PROGRAM");
    add_integer(app, "--threads", threads, 1, 1024,
                "host threads of the implementation, where it can be told");
    CLI::Option* const apart =
        app.add_flag("--isolated", isolated,
                     "run it in a process of its own, as all but Assay's own kernels are anyway");
    app.add_flag("--in-process", in_process,
                 "run it in this process, e.g. for a debugger: what it does there ends the run")
        ->excludes(apart);
    add_seconds(app, "--time-limit", time_limit, "of one call in a process of its own [60s]");
    const auto read_bytes = [](const std::string& text) {
      return bytes_value("--memory-limit", text);
    };
    add_value(app, "--memory-limit", memory_limit, read_bytes,
              "of that process beside the tensors [half of the machine's]");
  }
};

/// Whether the named implementation, or with no name any, is registered for Op.
template <class Op>
bool is_registered(const Registry& registry, const std::string& name) {
  return registry.find<Op>(name) != nullptr;
}

/// A replay line of `assay check` names the kernel whose outputs lie in the file.
inline constexpr const char* outputs_of_a_file =
    ". Outputs in a file are judged by 'assay check FILE', which runs no kernel";

/// The error that no operator has an implementation of that name.
inline UsageError unknown_implementation(const Registry& registry, const std::string& name) {
  std::vector<std::string> names;
  for_each_operator([&]<class Op> {
    for (const auto& entry : registry.implementations<Op>())
      if (std::ranges::find(names, entry.name) == names.end()) names.push_back(entry.name);
  });
  return UsageError("--implementation is '" + name + "'" +
                    one_of(name, names, "implementations are") +
                    (name.starts_with("mutant-")
                         ? "; of what 'assay mutants --list' names each is of one operator"
                         : outputs_of_a_file));
}

/// Whether the name is that of a foreign implementation. A registered one may have a colon, too.
template <class Op>
bool is_foreign(const Registry& registry, const std::string& name) {
  return foreign(name) && !is_registered<Op>(registry, name);
}

template <class Op>
const ImplementationEntry<Op>& chosen(const Registry& registry, const ImplementationFlags& flags) {
  if (const auto* entry = registry.find<Op>(flags.name)) return *entry;
  std::vector<std::string> names;
  for (const auto& entry : registry.implementations<Op>()) names.push_back(entry.name);
  if (names.empty())
    throw UsageError("no implementation of " + std::string(Op::name) + " is registered");
  throw UsageError(
      "--implementation is '" + flags.name + "'" +
      one_of(flags.name, names, "implementations of " + std::string(Op::name) + " are") +
      outputs_of_a_file);
}

/// The name that replay lines hold.
template <class Op>
std::string implementation_name(const Registry& registry, const ImplementationFlags& flags) {
  return is_foreign<Op>(registry, flags.name) ? flags.name : chosen<Op>(registry, flags).name;
}

/// In this process, fenced. Errors: UsageError for an unknown name, or threads for an
/// implementation that cannot be told; those of `open`.
template <class Op>
std::unique_ptr<spec::Implementation<Op>> make_here(const Registry& registry,
                                                    const ImplementationFlags& flags) {
  if (is_foreign<Op>(registry, flags.name))
    return adapters::fenced<Op>([&] { return open<Op>(*foreign(flags.name)); });
  const ImplementationEntry<Op>& entry = chosen<Op>(registry, flags);
  if (!flags.threads) return adapters::fenced<Op>(entry.make);
  if (!entry.make_threaded)
    throw UsageError(
        fmt::format("--threads is '{}', but {} has no threads to set", *flags.threads, entry.name));
  return adapters::fenced<Op>([&] { return entry.make_threaded(*flags.threads); });
}

/// Whether the flags have it run in the judge's own process.
template <class Op>
bool runs_here(const Registry& registry, const ImplementationFlags& flags) {
  if (flags.isolated || flags.in_process) return flags.in_process;
  return !is_foreign<Op>(registry, flags.name) && chosen<Op>(registry, flags).in_process;
}

/// Says aloud that nothing stands between the judge and the implementation.
inline void tell_in_process(const ImplementationFlags& flags, std::ostream& err) {
  if (flags.in_process)
    err << "--in-process: the implementation runs in the judge's own process; its crash, exit or "
           "hang ends the run\n";
}

/// What one call may take. Errors: UsageError.
adapters::WorkerLimits limits(const ImplementationFlags& flags);

/// Where the flags say: here, or in a worker. Errors: as `make_here`, but UsageError for what
/// cannot be opened.
template <class Op>
std::unique_ptr<spec::Implementation<Op>> make_implementation(const Registry& registry,
                                                              const ImplementationFlags& flags) {
  if (is_foreign<Op>(registry, flags.name)) require_scheme(*foreign(flags.name));
  if (runs_here<Op>(registry, flags)) {
    if (flags.time_limit || flags.memory_limit)
      throw UsageError("--time-limit and --memory-limit need --isolated: it runs in this process");
    return make_here<Op>(registry, flags);
  }
  const std::string name = implementation_name<Op>(registry, flags);
  std::vector<std::string> words = {worker_command_name, std::string(Op::name),
                                    "--implementation=" + name};
  if (flags.threads) words.push_back(fmt::format("--threads={}", *flags.threads));
  try {
    return adapters::isolated<Op>({.words = std::move(words)}, limits(flags));
  } catch (const std::invalid_argument& refusal) {
    throw UsageError("--implementation is '" + name + "': " + refusal.what());
  } catch (const spec::ImplementationFault& death) {
    throw UsageError("--implementation is '" + name +
                     "', which could not be opened: " + death.what());
  }
}

}  // namespace assay::cli
