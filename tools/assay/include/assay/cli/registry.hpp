#pragma once

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
  Registry& add(ImplementationEntry<Op> entry) {
    entries<Op>().push_back(std::move(entry));
    return *this;
  }
  Registry& add(Command command) {
    commands_.push_back(std::move(command));
    return *this;
  }

  template <class Op>
  const std::vector<ImplementationEntry<Op>>& implementations() const {
    return std::get<std::vector<ImplementationEntry<Op>>>(entries_);
  }
  const std::vector<Command>& commands() const { return commands_; }

 private:
  template <class Op>
  std::vector<ImplementationEntry<Op>>& entries() {
    return std::get<std::vector<ImplementationEntry<Op>>>(entries_);
  }

  decltype(detail::entries_of(spec::Operators{})) entries_;
  std::vector<Command> commands_;
};

}  // namespace assay::cli
