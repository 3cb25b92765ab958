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

/// How the failing cases of a cause are judged if the kernel declares other numerics.
struct NumericsFit {
  std::string text;  ///< those numerics; empty where none fits
  std::int64_t run = 0, conform = 0;
};

/// Share of the failing cases that other numerics have to explain; cases on which each candidate is
/// tried first. A fault of one corner of a cause is explained by looser numerics in a few cases by
/// chance, hardly in twelve.
inline constexpr double explained_share = 0.95;
inline constexpr std::size_t first_tried = 12;
/// Candidates of about the tightest tolerance are as good: the most usual one is told.
inline constexpr double about_as_tight = 0.7;

/// Looks for the numerics with which a kernel would conform.
template <class Op>
class NumericsSearch {
 public:
  /// `failing`: cases of one cause, the cheapest first. `ends` says when the time is spent.
  NumericsSearch(const std::vector<Case<Op>>& failing, spec::Implementation<Op>& kernel,
                 const std::function<bool()>& ends)
      : failing_(failing), kernel_(kernel), ends_(ends) {
    const std::size_t count = std::min(first_tried, failing.size());
    for (std::size_t k = 0; k < count; ++k) first_.push_back(k * failing.size() / count);
  }

  /// Of those with which nearly all failing cases conform, and `another` one, the tightest: those
  /// of whose tolerance its errors take the largest share.
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

  /// Runs the other failing cases, too, as long as there is time.
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
  std::vector<std::size_t> first_;  ///< cases that are tried first, evenly drawn
};

}  // namespace assay::conformance
