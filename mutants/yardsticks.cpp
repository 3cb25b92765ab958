#include "yardsticks.hpp"

#include <algorithm>
#include <cmath>

namespace assay::mutants {
namespace {

using conformance::CaseReport;
using conformance::TensorReport;

double figure(const TensorReport& tensor, std::string_view name) {
  for (const auto& [own, value] : tensor.yardsticks)
    if (own == name) return value;
  return HUGE_VAL;
}

/// Returns whether the error measure `name` exceeds `times` the same measure of the plain kernel.
/// Returns true for NaN.
bool exceeds(const TensorReport& tensor, const TensorReport& plain, std::string_view name,
             double times) {
  return !(figure(tensor, name) <= times * figure(plain, name));
}

/// Applies Ascend's "double benchmark" rule with given limits. The rule's separate count of small
/// values is omitted.
bool beyond_double_benchmark(const TensorReport& tensor, const TensorReport& plain, double worst,
                             double others) {
  return exceeds(tensor, plain, "MARE", worst) || exceeds(tensor, plain, "MERE", others) ||
         exceeds(tensor, plain, "RMSE", others);
}

struct Yardstick {
  const char* name;
  bool (*fails)(const TensorReport& tensor, const TensorReport& plain);
};

constexpr Yardstick of_others[] = {
    {"Ascend single benchmark",
     [](const TensorReport& tensor, const TensorReport&) {
       return figure(tensor, "passes_ascend_single_benchmark") != 1;
     }},
    {"Ascend double benchmark, level 0: 10, 2, 2",
     [](const TensorReport& tensor, const TensorReport& plain) {
       return beyond_double_benchmark(tensor, plain, 10, 2);
     }},
    {"Ascend double benchmark, level 2: 2, 1.2, 1.2",
     [](const TensorReport& tensor, const TensorReport& plain) {
       return beyond_double_benchmark(tensor, plain, 2, 1.2);
     }},
    {"3 times the error of plain arithmetic",
     [](const TensorReport& tensor, const TensorReport& plain) {
       return exceeds(tensor, plain, "largest_error", 3);
     }},
    {"PyTorch assert_close",
     [](const TensorReport& tensor, const TensorReport&) {
       return figure(tensor, "share_beyond_torch_assert_close") > 0;
     }},
    {"fixed 0.005 (op-plugin)",
     [](const TensorReport& tensor, const TensorReport&) {
       return figure(tensor, "share_beyond_op_plugin_0.005") > 0;
     }},
    {"fixed 0.01 (KernelBench)",
     [](const TensorReport& tensor, const TensorReport&) {
       return figure(tensor, "share_beyond_kernelbench_1e-2") > 0;
     }},
};

}  // namespace

std::vector<std::string> yardstick_names() {
  std::vector<std::string> names = {"Assay"};
  for (const Yardstick& yardstick : of_others) names.emplace_back(yardstick.name);
  return names;
}

std::vector<bool> failed_by(const CaseReport& report, const CaseReport& plain) {
  std::vector<bool> fails = {contribution(report.verdict) == conformance::ExitCode::nonconformant};
  for (const Yardstick& yardstick : of_others)
    fails.push_back(std::ranges::any_of(plain.tensors, [&](const TensorReport& of_plain) {
      if (of_plain.yardsticks.empty()) return false;
      const auto own = std::ranges::find(report.tensors, of_plain.name, &TensorReport::name);
      const bool judged = own != report.tensors.end() && !own->yardsticks.empty();
      return !judged || yardstick.fails(*own, of_plain);
    }));
  return fails;
}

}  // namespace assay::mutants
