#pragma once

#include <memory>
#include <utility>

#include "session.hpp"

namespace assay::tests {

/// A correct kernel. Tests derive from it to add a special behaviour.
class Wrapped : public spec::Implementation<Op> {
 public:
  Wrapped() {
    for (const auto& mutant : mutants::mutants<Op>())
      if (mutant.name == "flash_like") inner_ = mutant.make();
  }
  std::string name() const override { return "wrapped"; }
  std::optional<std::string> unsupported(const spec::Call<Op>& call) const override {
    return inner_->unsupported(call);
  }
  bool checks_arguments() const override { return false; }
  spec::Numerics numerics(const Op::Problem& problem) const override {
    return inner_->numerics(problem);
  }
  void run(const Op::Problem& problem, const Op::Inputs& inputs, Op::Outputs& outputs) override {
    inner_->run(problem, inputs, outputs);
  }

 private:
  std::unique_ptr<spec::Implementation<Op>> inner_;
};

/// Writes wrong values into dv.
inline void spoil(Op::Outputs& outputs) {
  for (const std::int64_t element : spec::viewed_elements(outputs.dv))
    outputs.dv.store(element, 77);
}

/// Returns a registry with a single implementation.
inline cli::Registry registry_with(
    std::function<std::unique_ptr<spec::Implementation<Op>>()> make) {
  cli::Registry registry;
  registry.add<Op>({.name = "wrapped",
                    .summary = "healthy and more",
                    .make = std::move(make),
                    .in_process = true});
  return registry;
}

}  // namespace assay::tests
