#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/conformance/judge/examination.hpp"
#include "assay/spec/numerics.hpp"
#include "assay/spec/passes_on.hpp"

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

/// A kernel that declares other numerics than its own.
template <class Op>
class DeclaredOtherwise final : public spec::PassesOn<Op> {
 public:
  DeclaredOtherwise(spec::Implementation<Op>& kernel, const OtherNumerics& other)
      : spec::PassesOn<Op>(kernel), other_(other) {}

  spec::Numerics numerics(const typename Op::Problem& problem) const override {
    return other_.of(this->inner_.numerics(problem), problem.dtype);
  }

 private:
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

/// The numerics with which the kernel would conform in every one of the failing cases, the cheapest
/// of which comes first, and in another one, if it offers that; empty where with none: then it is
/// wrong. Ends with what it has where `ends` says so.
template <class Op>
std::string fitting_numerics(const std::vector<Case<Op>>& failing, const Case<Op>& another,
                             spec::Implementation<Op>& kernel, const std::function<bool()>& ends) {
  const auto& problem = failing.front().problem;
  BestFit best;
  for (const OtherNumerics& other :
       other_numerics(kernel.numerics(problem), problem.dtype, Op::name)) {
    DeclaredOtherwise<Op> otherwise(kernel, other);
    double share = 0;
    const auto conforms = [&](const Case<Op>& c, bool is_offered) {
      const CaseReport report = examine(c, otherwise);
      share = std::max(share, largest_share(report));
      return report.value_case ? contribution(report.verdict) == ExitCode::conformant : !is_offered;
    };
    const auto may_be = [&](const Case<Op>& c) { return !ends() && conforms(c, true); };
    if (std::ranges::all_of(failing, may_be) && conforms(another, false))
      best.add(other.text, share);
    if (ends()) break;
  }
  return best.text();
}

}  // namespace assay::conformance
