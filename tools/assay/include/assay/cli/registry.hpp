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

/// An implementation of Op that the command line can name.
template <class Op>
struct ImplementationEntry {
  using Made = std::unique_ptr<spec::Implementation<Op>>;

  std::string name, summary;
  std::function<Made()> make;
  /// For implementations whose host threads can be set; empty: `--threads` is refused.
  std::function<Made(std::int64_t threads)> make_threaded = {};
  /// Runs in the judge's own process unless `--isolated` is said: for code that is trusted as the
  /// judge is. Others need a program that calls `assay::cli::main` with its words, since it is
  /// started again as their worker.
  bool in_process = false;
};

namespace detail {
template <class... Ops>
std::tuple<std::vector<ImplementationEntry<Ops>>...> entries_of(spec::TypeList<Ops...>);
}  // namespace detail

using spec::for_each_operator;

/// What a binary offers: implementations, the first of an operator being the default, and commands
/// beside the built-in ones.
class Registry {
 public:
  template <class Op>
  using Entries = std::vector<ImplementationEntry<Op>>;

  template <class Op>
  Registry& add(ImplementationEntry<Op> entry) {
    entries<Op>().push_back(std::move(entry));
    return *this;
  }
  /// One that is found by its name, and that no list names.
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
  /// The one of that name, without a name the default; null if there is none.
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
