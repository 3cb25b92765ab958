#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "assay/cli/command.hpp"
#include "assay/spec/implementation.hpp"
#include "assay/spec/operators.hpp"

namespace assay::cli {

/// An implementation of the operator Op that users can select on the command line.
template <class Op>
struct ImplementationEntry {
  using Made = std::unique_ptr<spec::Implementation<Op>>;

  std::string name, summary;
  std::function<Made()> make;
  /// Makes an implementation that uses the given number of host threads. If this function is empty,
  /// `--threads` is an error.
  std::function<Made(std::int64_t threads)> make_threaded = {};
  /// If true, the implementation runs in the judge's own process unless `--isolated` is given. Use
  /// it only for code that is trusted like the judge. If false, the implementation runs in a worker
  /// process. For this the judge starts the program again, so the program must pass its command
  /// line to `assay::cli::main`.
  bool in_process = false;
};

namespace detail {
template <class... Ops>
std::tuple<std::vector<ImplementationEntry<Ops>>...> entries_of(spec::TypeList<Ops...>);
}  // namespace detail

using spec::for_each_operator;

/// The implementations that a program contains, and the commands that it adds to the built-in ones.
/// The first implementation of each operator is the default.
class Registry {
 public:
  template <class Op>
  using Entries = std::vector<ImplementationEntry<Op>>;

  template <class Op>
  Registry& add(ImplementationEntry<Op> entry) {
    entries<Op>().push_back(std::move(entry));
    return *this;
  }
  /// Adds an implementation that users can select by its name, but that `assay list` does not show.
  template <class Op>
  Registry& add_unlisted(ImplementationEntry<Op> entry) {
    std::get<Entries<Op>>(unlisted_).push_back(std::move(entry));
    return *this;
  }
  Registry& add(Command command) {
    commands_.push_back(std::move(command));
    return *this;
  }

  template <class Op>
  const std::vector<ImplementationEntry<Op>>& implementations() const {
    return std::get<Entries<Op>>(entries_);
  }
  /// Returns the implementation with this name. An empty name selects the default. Returns null if
  /// there is no such implementation.
  template <class Op>
  const ImplementationEntry<Op>* find(const std::string& name) const {
    if (name.empty()) return implementations<Op>().empty() ? nullptr : &implementations<Op>()[0];
    for (const Entries<Op>* entries : {&implementations<Op>(), &std::get<Entries<Op>>(unlisted_)}) {
      const auto entry = std::ranges::find(*entries, name, &ImplementationEntry<Op>::name);
      if (entry != entries->end()) return &*entry;
    }
    return nullptr;
  }
  const std::vector<Command>& commands() const { return commands_; }

 private:
  template <class Op>
  std::vector<ImplementationEntry<Op>>& entries() {
    return std::get<Entries<Op>>(entries_);
  }

  decltype(detail::entries_of(spec::Operators{})) entries_, unlisted_;
  std::vector<Command> commands_;
};

}  // namespace assay::cli
