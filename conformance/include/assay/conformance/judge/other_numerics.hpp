#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/conformance/judge/prepared_case.hpp"
#include "assay/spec/numerics.hpp"
#include "assay/spec/passes_on.hpp"

/// Checks whether a failing kernel is correct but declares wrong numerics (properties of its
/// arithmetic).
namespace assay::conformance {

/// Numerics that differ from the kernel's declaration. The text describes the difference, e.g.
/// "operand_scaled=true", or names a preset.
struct OtherNumerics {
  std::string text;
  std::function<spec::Numerics(spec::Numerics declared, spec::DType io)> of;
};

/// Returns all numerics that are tried in place of the declared ones. Weak numerics are left out,
/// because every kernel conforms with them.
std::vector<OtherNumerics> other_numerics(const spec::Numerics& declared, spec::DType io,
                                          std::string_view operator_name);

/// Wraps a kernel, and declares other numerics (another arithmetic) for it.
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

/// Returns the largest error in a report, divided by its tolerance.
inline double largest_share(const CaseReport& report) {
  double largest = 0;
  for (const TensorReport& tensor : report.tensors) largest = std::max(largest, tensor.worst);
  return largest;
}

/// The result of judging failing cases with the same cause again, with other declared numerics.
struct NumericsFit {
  std::string text;  ///< those numerics; empty if none fits
  std::int64_t run = 0, conform = 0;
};

/// `explained_share`: the fraction of the failing cases that must conform with the other numerics
/// (declared arithmetic). `first_tried`: the number of cases on which each candidate is tried
/// first. A few cases may conform by chance with numerics that allow larger errors, but twelve
/// cases hardly ever do.
inline constexpr double explained_share = 0.95;
inline constexpr std::size_t first_tried = 12;
/// Several candidates may have a tolerance that is nearly the tightest one. These count as equally
/// good, and the search reports the most common numerics among them.
inline constexpr double about_as_tight = 0.7;

/// Searches for numerics (a declared arithmetic) with which the kernel would conform.
template <class Op>
class NumericsSearch {
 public:
  /// `failing`: failing cases with the same cause, cheapest first. `ends`: returns true if no time
  /// is left.
  NumericsSearch(const std::vector<Case<Op>>& failing, spec::Implementation<Op>& kernel,
                 const std::function<bool()>& ends)
      : failing_(failing), kernel_(kernel), ends_(ends) {
    const std::size_t count = std::min(first_tried, failing.size());
    for (std::size_t k = 0; k < count; ++k) first_.push_back(k * failing.size() / count);
  }

  /// Returns the tightest numerics (declared arithmetic) with which nearly all failing cases
  /// conform, and also the case `another`. Numerics are tight if the errors use a large fraction of
  /// their tolerances.
  NumericsFit best(const Case<Op>& another) const {
    const auto& problem = failing_.front().problem;
    std::vector<std::pair<double, OtherNumerics>> candidates;
    for (const OtherNumerics& other :
         other_numerics(kernel_.numerics(problem), problem.dtype, Op::name)) {
      double share = 0;
      const auto fits = [&](std::size_t k) {
        return !ends_() && conforms(failing_[k], other, true, share);
      };
      if (std::ranges::all_of(first_, fits) && conforms(another, other, false, share))
        candidates.emplace_back(share, other);
      if (ends_()) break;
    }
    double largest = 0;
    for (const auto& [share, other] : candidates) largest = std::max(largest, share);
    std::ranges::stable_partition(candidates, [&](const auto& candidate) {
      return candidate.first >= about_as_tight * largest;
    });
    for (const auto& [share, other] : candidates)
      if (const NumericsFit fit = of_all(other); !fit.text.empty()) return fit;
    return {};
  }

 private:
  bool conforms(const Case<Op>& c, const OtherNumerics& other, bool is_offered,
                double& share) const {
    DeclaredOtherwise<Op> otherwise(kernel_, other);
    const CaseReport report = judge_case(c, otherwise);
    share = std::max(share, largest_share(report));
    return report.verdict == Verdict::not_applicable
               ? !is_offered
               : contribution(report.verdict) == ExitCode::conformant;
  }

  /// Judges the other failing cases too, while there is time.
  NumericsFit of_all(const OtherNumerics& other) const {
    NumericsFit fit{.text = other.text, .run = std::ssize(first_), .conform = std::ssize(first_)};
    double share = 0;
    for (std::size_t k = 0; k < failing_.size() && !ends_(); ++k) {
      if (std::ranges::find(first_, k) != first_.end()) continue;
      ++fit.run;
      fit.conform += conforms(failing_[k], other, true, share) ? 1 : 0;
    }
    const bool explains =
        static_cast<double>(fit.conform) >= explained_share * static_cast<double>(fit.run);
    return explains ? fit : NumericsFit{};
  }

  const std::vector<Case<Op>>& failing_;
  spec::Implementation<Op>& kernel_;
  const std::function<bool()>& ends_;
  std::vector<std::size_t> first_;  ///< cases to try first, evenly spaced
};

}  // namespace assay::conformance
