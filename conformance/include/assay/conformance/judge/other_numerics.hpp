#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/conformance/judge/examination.hpp"
#include "assay/spec/implementation.hpp"
#include "assay/spec/numerics.hpp"
#include "assay/spec/runs_elsewhere.hpp"

/// What a kernel that fails may be, if it is not wrong: one that declared other numerics than it
/// has.
namespace assay::conformance {

/// Numerics other than those declared, as a declaration has them: "operand_scaled=true", all else
/// as it is, or the name of a preset.
struct OtherNumerics {
  std::string text;
  std::function<spec::Numerics(spec::Numerics declared, spec::DType io)> of;
};

/// All that are tried, but for weak ones: with these anything conforms.
std::vector<OtherNumerics> other_numerics(const spec::Numerics& declared, spec::DType io,
                                          std::string_view operator_name);

/// Passes everything on to a kernel, but for what it declares.
template <class Op>
class DeclaredOtherwise final : public spec::Implementation<Op>, public spec::RunsElsewhere {
 public:
  DeclaredOtherwise(spec::Implementation<Op>& inner, const OtherNumerics& other)
      : inner_(inner), other_(other) {}

  std::string name() const override { return inner_.name(); }
  bool runs_elsewhere() const override { return spec::runs_elsewhere(inner_); }
  std::optional<std::string> unsupported(const spec::Call<Op>& call) const override {
    return inner_.unsupported(call);
  }
  spec::Numerics numerics(const typename Op::Problem& problem) const override {
    return other_.of(inner_.numerics(problem), problem.dtype);
  }
  bool checks_arguments() const override { return inner_.checks_arguments(); }
  void check(const spec::Call<Op>& call) const override { inner_.check(call); }
  void run(const typename Op::Problem& problem, const typename Op::Inputs& inputs,
           typename Op::Outputs& outputs) override {
    inner_.run(problem, inputs, outputs);
  }
  void run_call(const spec::Call<Op>& call, const typename Op::Problem& problem,
                const typename Op::Inputs& inputs, typename Op::Outputs& outputs) override {
    inner_.run_call(call, problem, inputs, outputs);
  }
  bool has_forward() const override { return inner_.has_forward(); }
  void forward(const typename Op::Problem& problem, typename Op::Inputs& inputs) override {
    inner_.forward(problem, inputs);
  }
  std::vector<spec::Metric> metrics() const override { return inner_.metrics(); }
  void settle() override { inner_.settle(); }

 private:
  spec::Implementation<Op>& inner_;
  const OtherNumerics& other_;
};

/// The largest error of a report, as a share of its tolerance.
inline double largest_share(const CaseReport& report) {
  double largest = 0;
  for (const TensorReport& tensor : report.tensors) largest = std::max(largest, tensor.worst);
  return largest;
}

/// Of numerics with which a kernel would conform, the tightest: those of whose tolerance its errors
/// take the largest share; of those that are about as tight the first, which is the most usual.
class BestFit {
 public:
  void add(const std::string& text, double share) { fits_.emplace_back(text, share); }
  /// Empty where there are none.
  std::string text() const {
    constexpr double about = 0.7;
    double largest = 0;
    for (const auto& [text, share] : fits_) largest = std::max(largest, share);
    for (const auto& [text, share] : fits_)
      if (share >= about * largest) return text;
    return {};
  }

 private:
  std::vector<std::pair<std::string, double>> fits_;
};

/// The numerics with which the kernel would conform in every one of the cases; empty where with
/// none: then it is wrong. `cases`: failing ones, the cheapest first, and behind them any others on
/// which numbers tell; what the kernel does not offer says nothing. Ends with what it has where
/// `ends` says so.
template <class Op>
std::string fitting_numerics(const std::vector<Case<Op>>& cases, spec::Implementation<Op>& kernel,
                             const std::function<bool()>& ends) {
  const auto& problem = cases.front().problem;
  BestFit best;
  for (const OtherNumerics& other :
       other_numerics(kernel.numerics(problem), problem.dtype, Op::name)) {
    DeclaredOtherwise<Op> otherwise(kernel, other);
    double share = 0;
    bool conforms = true;
    for (const Case<Op>& c : cases) {
      if (ends()) return best.text();
      const CaseReport report = examine(c, otherwise);
      if (!report.value_case) continue;
      share = std::max(share, largest_share(report));
      conforms = contribution(report.verdict) == ExitCode::conformant;
      if (!conforms) break;
    }
    if (conforms) best.add(other.text, share);
  }
  return best.text();
}

}  // namespace assay::conformance
