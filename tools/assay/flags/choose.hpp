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

/// The name of the hidden command that makes this program a worker process.
inline constexpr const char* worker_command_name = "worker";
/// The second word of a worker's command line is the operator. If the worker reads an untrusted
/// case file, it is this word instead.
inline constexpr const char* reading_word = "cases-file";

inline std::vector<std::string> operator_names() {
  std::vector<std::string> names;
  for_each_operator([&]<class Op> { names.emplace_back(Op::name); });
  return names;
}

/// Returns the error for an unknown operator. The message suggests a similar name and lists the
/// existing names.
inline UsageError unknown_operator(const std::string& name) {
  const std::string hint = documented_hint(name);
  return UsageError("no operator '" + name + "'" +
                    guessed(hint.empty() ? meant(name, operator_names()) : hint, operator_names(),
                            "operators are"));
}

/// Calls use.template operator()<Op>() for the operator with this name; for all operators if the
/// name is empty. Errors: UsageError that lists the existing operators.
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

/// The flags that select an implementation and the process in which it runs.
struct ImplementationFlags {
  std::string name;
  std::optional<std::int64_t> threads, memory_limit;  ///< memory in bytes
  std::optional<double> time_limit;                   ///< in seconds
  bool isolated = false, in_process = false;
  std::string flag = "--implementation";  ///< the flag that gives the name, for messages

  void declare(CLI::App& app) {
    app.add_option("--implementation", name,
                   "the implementation to judge: see 'list implementations', or aclnn:LIBRARIES, "
                   "plugin:LIBRARY, command:PROGRAM; a Python function is "
                   "'command:python3 -m assay serve FILE.py:FUNCTION'")
        ->transform(with_absolute_paths);
    declare_process(app);
  }

  /// Declares all flags of this group except --implementation.
  void declare_process(CLI::App& app) {
    add_integer(app, "--threads", threads, 1, 1024,
                "number of host threads of the implementation, if this number can be set");
    CLI::Option* const apart =
        app.add_flag("--isolated", isolated,
                     "run the implementation in a separate process; the default for all but "
                     "Assay's own kernels");
    app.add_flag("--in-process", in_process,
                 "run the implementation in this process, e.g. for a debugger; if it crashes, the "
                 "run ends")
        ->excludes(apart);
    add_seconds(app, "--time-limit", time_limit,
                "time limit of one call, if the implementation "
                "runs in a separate process [60s]");
    const auto read_bytes = [](const std::string& text) {
      return bytes_value("--memory-limit", text);
    };
    add_value(app, "--memory-limit", memory_limit, read_bytes,
              "memory limit of this process, without the tensors [half of the machine's memory]");
  }
};

/// Returns whether an implementation with this name is registered for Op. An empty name matches any
/// implementation.
template <class Op>
bool is_registered(const Registry& registry, const std::string& name) {
  return registry.find<Op>(name) != nullptr;
}

/// The end of an error message about an unknown implementation. A user may have copied a line of
/// `assay check`, which names the kernel that wrote the outputs in a file. This program need not
/// contain that kernel.
inline constexpr const char* outputs_of_a_file =
    ". Outputs in a file are judged by 'assay check FILE', which runs no kernel";

/// Returns the error for an implementation name that no operator has.
inline UsageError unknown_implementation(const Registry& registry,
                                         const ImplementationFlags& flags) {
  const std::string& name = flags.name;
  std::vector<std::string> names;
  for_each_operator([&]<class Op> {
    for (const auto& entry : registry.implementations<Op>())
      if (std::ranges::find(names, entry.name) == names.end()) names.push_back(entry.name);
  });
  return UsageError(flags.flag + " is '" + name + "'" + one_of(name, names, "implementations are") +
                    (name.starts_with("mutant-")
                         ? "; each name of 'assay mutants --list' belongs to one operator"
                         : outputs_of_a_file));
}

/// Returns whether the name selects an external implementation (SCHEME:REST, such as
/// command:PROGRAM). A registered name may also contain a colon.
template <class Op>
bool is_foreign(const Registry& registry, const std::string& name) {
  return foreign(name) && !is_registered<Op>(registry, name);
}

/// The last part of the error message if no implementation is registered.
inline constexpr const char* how_to_give_a_kernel =
    "; give yours with --implementation=command:PROGRAM or plugin:LIBRARY, or judge a function in "
    "Python: assay new python FOLDER";

template <class Op>
const ImplementationEntry<Op>& chosen(const Registry& registry, const ImplementationFlags& flags) {
  if (const auto* entry = registry.find<Op>(flags.name)) return *entry;
  std::vector<std::string> names;
  for (const auto& entry : registry.implementations<Op>()) names.push_back(entry.name);
  if (names.empty())
    throw UsageError("no implementation of " + std::string(Op::name) + " is registered" +
                     how_to_give_a_kernel);
  throw UsageError(
      flags.flag + " is '" + flags.name + "'" +
      one_of(flags.name, names, "implementations of " + std::string(Op::name) + " are") +
      (flags.flag == "--implementation" ? outputs_of_a_file : ". Try: assay list implementations"));
}

/// Returns the name of the implementation in the form that replay lines use.
template <class Op>
std::string implementation_name(const Registry& registry, const ImplementationFlags& flags) {
  return is_foreign<Op>(registry, flags.name) ? flags.name : chosen<Op>(registry, flags).name;
}

/// Creates the implementation in this process. A call of the implementation that changes the
/// floating-point mode is reported as a fault (`adapters::fenced`). Errors: UsageError for an
/// unknown name, or if --threads is given and the implementation cannot use this number of threads;
/// the errors of `open`.
template <class Op>
std::unique_ptr<spec::Implementation<Op>> make_here(const Registry& registry,
                                                    const ImplementationFlags& flags) {
  if (is_foreign<Op>(registry, flags.name))
    return adapters::fenced<Op>([&] { return open<Op>(*foreign(flags.name)); });
  const ImplementationEntry<Op>& entry = chosen<Op>(registry, flags);
  if (!flags.threads) return adapters::fenced<Op>(entry.make);
  if (!entry.make_threaded)
    throw UsageError(
        fmt::format("--threads is '{}', but the number of threads of {} cannot be "
                    "set",
                    *flags.threads, entry.name));
  return adapters::fenced<Op>([&] { return entry.make_threaded(*flags.threads); });
}

/// Returns whether the implementation runs in the process of the judge.
template <class Op>
bool runs_here(const Registry& registry, const ImplementationFlags& flags) {
  if (flags.isolated || flags.in_process) return flags.in_process;
  return !is_foreign<Op>(registry, flags.name) && chosen<Op>(registry, flags).in_process;
}

/// Prints a warning if the implementation runs in the process of the judge: a crash of the
/// implementation would also end the judge.
inline void tell_in_process(const ImplementationFlags& flags, std::ostream& err) {
  if (flags.in_process)
    err << "--in-process: the implementation runs in the judge's own process; if it crashes, exits "
           "or hangs, the run ends\n";
}

/// Returns the time and memory limits of one call. Errors: UsageError.
adapters::WorkerLimits limits(const ImplementationFlags& flags);

/// Creates the implementation in this process or in a worker process, as the flags say. Errors:
/// those of `make_here`; UsageError if the implementation cannot be opened.
template <class Op>
std::unique_ptr<spec::Implementation<Op>> make_implementation(const Registry& registry,
                                                              const ImplementationFlags& flags) {
  if (is_foreign<Op>(registry, flags.name)) require_scheme(*foreign(flags.name), flags.flag);
  if (runs_here<Op>(registry, flags)) {
    if (flags.time_limit || flags.memory_limit)
      throw UsageError(
          "--time-limit and --memory-limit need --isolated: without it, the "
          "implementation runs in this process");
    return make_here<Op>(registry, flags);
  }
  const std::string name = implementation_name<Op>(registry, flags);
  std::vector<std::string> words = {worker_command_name, std::string(Op::name),
                                    "--implementation=" + name};
  if (flags.threads) words.push_back(fmt::format("--threads={}", *flags.threads));
  try {
    return adapters::isolated<Op>({.words = std::move(words)}, limits(flags));
  } catch (const std::invalid_argument& refusal) {
    throw UsageError(flags.flag + " is '" + name + "': " + refusal.what());
  } catch (const spec::ImplementationFault& death) {
    throw UsageError(flags.flag + " is '" + name + "', which could not be opened: " + death.what());
  }
}

}  // namespace assay::cli
