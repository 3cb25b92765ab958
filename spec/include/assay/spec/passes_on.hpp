#pragma once

#include <optional>
#include <string>
#include <vector>

#include "assay/spec/implementation.hpp"
#include "assay/spec/runs_elsewhere.hpp"
#include "assay/spec/takes_formulas.hpp"

namespace assay::spec {

/// Base class of a wrapper that forwards every call to another implementation, which must outlive
/// the wrapper. A derived class overrides the functions that it changes.
template <class Op>
class PassesOn : public Implementation<Op>, public RunsElsewhere, public TakesFormulas {
 public:
  explicit PassesOn(Implementation<Op>& inner) : inner_(inner) {}

  std::string name() const override { return inner_.name(); }
  bool runs_elsewhere() const override { return spec::runs_elsewhere(inner_); }
  bool takes_formulas() const override { return spec::takes_formulas(inner_) != nullptr; }
  bool has_formula_gradients() const override {
    const TakesFormulas* const takes = spec::takes_formulas(inner_);
    return takes != nullptr && takes->has_formula_gradients();
  }
  void set_formula(const std::string& variant) override {
    if (TakesFormulas* const takes = spec::takes_formulas(inner_)) takes->set_formula(variant);
  }
  bool takes_parts() const override { return spec::takes_parts(inner_) != nullptr; }
  void set_part(const std::string& part) override {
    if (TakesFormulas* const takes = spec::takes_parts(inner_)) takes->set_part(part);
  }
  std::optional<std::string> unsupported(const Call<Op>& call) const override {
    return inner_.unsupported(call);
  }
  Numerics numerics(const typename Op::Problem& problem) const override {
    return inner_.numerics(problem);
  }
  bool checks_arguments() const override { return inner_.checks_arguments(); }
  void check(const Call<Op>& call) const override { inner_.check(call); }
  void run(const typename Op::Problem& problem, const typename Op::Inputs& inputs,
           typename Op::Outputs& outputs) override {
    inner_.run(problem, inputs, outputs);
  }
  void run_call(const Call<Op>& call, const typename Op::Problem& problem,
                const typename Op::Inputs& inputs, typename Op::Outputs& outputs) override {
    inner_.run_call(call, problem, inputs, outputs);
  }
  bool has_forward() const override { return inner_.has_forward(); }
  void forward(const typename Op::Problem& problem, typename Op::Inputs& inputs) override {
    inner_.forward(problem, inputs);
  }
  std::vector<Metric> metrics() const override { return inner_.metrics(); }
  void settle() override { inner_.settle(); }

 protected:
  Implementation<Op>& inner_;
};

}  // namespace assay::spec
