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

/// Forwards all calls to an implementation. Records digests of the inputs and outputs of the first
/// run after each call of `take`.
template <class Op>
class Recorder final : public spec::PassesOn<Op> {
  using Forwarding = spec::PassesOn<Op>;
  using Forwarding::inner_;

 public:
  using Digests = std::vector<std::pair<std::string, std::string>>;  ///< name of the tensor, digest

  struct Run {
    Digests inputs, outputs;
  };

  /// `name` is the name of the implementation in replay lines.
  Recorder(spec::Implementation<Op>& inner, std::string name)
      : Forwarding(inner), name_(conformance::printable(name)) {}

  std::string name() const override { return name_; }
  spec::Numerics numerics(const typename Op::Problem& problem) const override {
    const spec::Numerics said = inner_.numerics(problem);
    const std::scoped_lock lock(mutex_);
    return said_[problem.dtype] = said;
  }
  /// Returns the numerics (rounding behaviour) that the implementation last declared for this
  /// element type. Any thread may call this function.
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

  /// Sets a function that is called at the start and at the end of each run of the implementation.
  void set_listener(std::function<void(bool runs)> listener) { listener_ = std::move(listener); }

  /// Returns the digests of the first run since the previous call of `take`. They are empty if the
  /// implementation did not run.
  Run take() { return std::exchange(run_, std::nullopt).value_or(Run{}); }

 private:
  template <class Work>
  void recorded(const typename Op::Inputs& inputs, const typename Op::Outputs& outputs,
                Work&& work) {
    const bool first = !run_;
    if (first) run_ = Run{.inputs = digests(inputs), .outputs = {}};
    {
      const Notice notice(listener_);
      work();
    }
    try {
      if (first) run_->outputs = digests(outputs);
    } catch (const std::exception&) {  // no digest of an invalid replacement tensor; the judge
                                       // reports it
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

  /// Calls the listener at the start and at the end of a run, also if the run throws.
  class Notice {
   public:
    explicit Notice(const std::function<void(bool)>& listener) : listener_(listener) {
      if (listener_) listener_(true);
    }
    ~Notice() {
      if (listener_) listener_(false);
    }
    Notice(const Notice&) = delete;
    Notice& operator=(const Notice&) = delete;

   private:
    const std::function<void(bool)>& listener_;
  };

  std::string name_;
  std::function<void(bool runs)> listener_;
  std::optional<Run> run_;
  mutable std::mutex mutex_;
  mutable std::map<spec::DType, spec::Numerics> said_;
};

}  // namespace assay::cli
