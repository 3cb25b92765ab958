#pragma once

#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/conformance/report/record.hpp"
#include "assay/conformance/result/printable.hpp"
#include "assay/fixtures/record.hpp"
#include "assay/spec/passes_on.hpp"

namespace assay::cli {

/// Passes everything on to an implementation and remembers digests of its first
/// run since `take`.
template <class Op>
class Recorder final : public spec::PassesOn<Op> {
  using Forwarding = spec::PassesOn<Op>;
  using Forwarding::inner_;

 public:
  using Digests = std::vector<std::pair<std::string, std::string>>;  ///< tensor and digest

  struct Run {
    Digests inputs, outputs;
  };

  /// `name` is the one under which the registry lists it: replay lines hold it.
  Recorder(spec::Implementation<Op>& inner, std::string name)
      : Forwarding(inner), name_(conformance::printable(name)) {}

  std::string name() const override { return name_; }
  spec::Numerics numerics(const typename Op::Problem& problem) const override {
    const spec::Numerics said = inner_.numerics(problem);
    const std::scoped_lock lock(mutex_);
    return said_[problem.dtype] = said;
  }
  /// What it said last for tensors of this type; from any thread.
  std::optional<spec::Numerics> said_of(spec::DType dtype) const {
    const std::scoped_lock lock(mutex_);
    const auto found = said_.find(dtype);
    return found == said_.end() ? std::nullopt : std::optional(found->second);
  }
  void run(const typename Op::Problem& problem, const typename Op::Inputs& inputs,
           typename Op::Outputs& outputs) override {
    recorded(inputs, outputs, [&] { inner_.run(problem, inputs, outputs); });
  }
  void run_call(const spec::Call<Op>& call, const typename Op::Problem& problem,
                const typename Op::Inputs& inputs, typename Op::Outputs& outputs) override {
    recorded(inputs, outputs, [&] { inner_.run_call(call, problem, inputs, outputs); });
  }

  /// Calls `told` when the implementation begins to run, and when it has ended.
  void tell(std::function<void(bool runs)> told) { told_ = std::move(told); }

  /// Of the first run since the last call; empty where there was none.
  Run take() { return std::exchange(run_, std::nullopt).value_or(Run{}); }

 private:
  template <class Work>
  void recorded(const typename Op::Inputs& inputs, const typename Op::Outputs& outputs,
                Work&& work) {
    const bool first = !run_;
    if (first) run_ = Run{.inputs = digests(inputs), .outputs = {}};
    {
      const Telling telling(told_);
      work();
    }
    try {
      if (first) run_->outputs = digests(outputs);
    } catch (const std::exception&) {  // of what was put in their place there is none, as the judge
                                       // will see
    }
  }
  template <class Tensors>
  static Digests digests(const Tensors& tensors) {
    Digests result;
    conformance::visit_tensors(tensors, [&](const char* name, const spec::Tensor& tensor) {
      result.emplace_back(name, fixtures::digest(tensor));
    });
    return result;
  }

  /// Says that the run has ended however it ends.
  class Telling {
   public:
    explicit Telling(const std::function<void(bool)>& told) : told_(told) {
      if (told_) told_(true);
    }
    ~Telling() {
      if (told_) told_(false);
    }
    Telling(const Telling&) = delete;
    Telling& operator=(const Telling&) = delete;

   private:
    const std::function<void(bool)>& told_;
  };

  std::string name_;
  std::function<void(bool runs)> told_;
  std::optional<Run> run_;
  mutable std::mutex mutex_;
  mutable std::map<spec::DType, spec::Numerics> said_;
};

}  // namespace assay::cli
