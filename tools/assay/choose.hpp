#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "assay/cli/registry.hpp"
#include "values.hpp"

namespace assay::cli {

inline std::vector<std::string> operator_names() {
  std::vector<std::string> names;
  for_each_operator([&]<class Op> { names.emplace_back(Op::name); });
  return names;
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
  if (!found)
    throw UsageError("no operator '" + name + "'; operators are " + joined(operator_names()));
}

/// Which implementation a command runs, as flags.
struct ImplementationFlags {
  std::string name, threads;

  void declare(CLI::App& app) {
    app.add_option("--implementation", name,
                   "implementation that is judged, see 'list implementations'");
    app.add_option("--threads", threads,
                   "host threads of the implementation, where it can be told");
  }
};

/// Whether the named implementation, or with no name any, is registered for Op.
template <class Op>
bool is_registered(const Registry& registry, const std::string& name) {
  const auto& entries = registry.implementations<Op>();
  return name.empty() ? !entries.empty()
                      : std::ranges::any_of(entries, [&](const auto& e) { return e.name == name; });
}

/// The error that no operator has an implementation of that name.
inline UsageError unknown_implementation(const Registry& registry, const std::string& name) {
  std::vector<std::string> names;
  for_each_operator([&]<class Op> {
    for (const auto& entry : registry.implementations<Op>())
      if (std::ranges::find(names, entry.name) == names.end()) names.push_back(entry.name);
  });
  return UsageError("--implementation is '" + name + "'; implementations are " + joined(names));
}

template <class Op>
const ImplementationEntry<Op>& chosen(const Registry& registry, const ImplementationFlags& flags) {
  const auto& entries = registry.implementations<Op>();
  if (entries.empty())
    throw UsageError("no implementation of " + std::string(Op::name) + " is registered");
  if (flags.name.empty()) return entries.front();
  std::vector<std::string> names;
  for (const auto& entry : entries) {
    if (entry.name == flags.name) return entry;
    names.push_back(entry.name);
  }
  throw UsageError("--implementation is '" + flags.name + "'; implementations of " +
                   std::string(Op::name) + " are " + joined(names));
}

/// Errors: UsageError for an unknown name, or threads for an implementation that cannot be told.
template <class Op>
std::unique_ptr<spec::Implementation<Op>> make_implementation(const Registry& registry,
                                                              const ImplementationFlags& flags) {
  const ImplementationEntry<Op>& entry = chosen<Op>(registry, flags);
  if (flags.threads.empty()) return entry.make();
  if (!entry.make_threaded)
    throw UsageError("--threads is '" + flags.threads + "', but " + entry.name +
                     " has no threads to set");
  return entry.make_threaded(integer_value("--threads", flags.threads, 1, 1024));
}

}  // namespace assay::cli
