#include "assay/conformance/judge/other_numerics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <type_traits>

#include "assay/spec/operators.hpp"

namespace assay::conformance {
namespace {

using spec::DType;
using spec::Numerics;

/// Fields of the numerics (declared arithmetic) that are not varied. Some of them do not describe
/// roundings; with certain values of the others, any kernel would conform.
constexpr std::array<std::string_view, 8> never_changed = {"overflow",
                                                           "log_error",
                                                           "floor",
                                                           "order",
                                                           "weak",
                                                           "statistics_order",
                                                           "statistics_order_empty",
                                                           "statistics_order_same_as_input"};
/// These fields of the numerics (declared arithmetic) are tried first, because kernels most often
/// differ in them.
constexpr std::array<std::string_view, 5> usual = {"stage", "operand_scaled", "stats", "delta",
                                                   "lse_form"};

std::size_t place_of(std::string_view text) {
  const auto found = std::ranges::find(usual, text.substr(0, text.find('=')));
  return static_cast<std::size_t>(found - usual.begin());
}

/// Typical errors of exponentials that a kernel approximates itself instead of calling a library
/// function.
constexpr std::array<std::pair<double, std::string_view>, 2> errors_of_exp = {
    {{0x1p-16, "0x1p-16"}, {0x1p-11, "0x1p-11"}}};

template <class Member>
OtherNumerics changed(std::string_view name, Member value, std::string_view text) {
  return {std::string(name) + "=" + std::string(text), [name, value](Numerics numerics, DType) {
            visit_fields(numerics, [&](const char* own, auto& member) {
              if constexpr (std::is_same_v<std::remove_cvref_t<decltype(member)>, Member>)
                if (own == name) member = value;
            });
            return numerics;
          }};
}

/// Returns whether the operator writes softmax statistics. Only for such operators, the numerics
/// field `saves` has a meaning.
bool writes_statistics(std::string_view operator_name) {
  bool found = false;
  spec::for_each_operator([&]<class Op> {
    if (operator_name != Op::name) return;
    typename Op::Outputs outputs;
    visit_fields(outputs, [&](std::string_view name, const auto&) {
      found = found || name == "softmax_max";
    });
  });
  return found;
}

}  // namespace

std::vector<OtherNumerics> other_numerics(const Numerics& declared, DType io,
                                          std::string_view operator_name) {
  std::vector<OtherNumerics> all;
  visit_fields(declared, [&]<class Member>(const char* name, const Member& member) {
    if (std::ranges::find(never_changed, name) != never_changed.end()) return;
    if (std::string_view(name) == "saves" && !writes_statistics(operator_name)) return;
    if constexpr (std::is_same_v<Member, bool>) {
      all.push_back(changed(name, !member, member ? "false" : "true"));
    } else if constexpr (std::is_same_v<Member, double>) {
      for (const auto& [error, text] : errors_of_exp)
        if (error > member) all.push_back(changed(name, error, text));
    } else {
      for (const auto& [value, text] : spec::spellings_of<Member>.entries) {
        if constexpr (std::is_same_v<Member, DType>)
          if (!spec::is_fp16_bf16_fp32(value)) continue;
        if (value != member) all.push_back(changed(name, value, text));
      }
      if constexpr (std::is_same_v<Member, DType>)
        all.push_back({fmt::format("bf16:{0}=bf16 fp16:{0}=fp16", name),
                       [name](Numerics numerics, DType type) {
                         return changed(name, type, "").of(numerics, type);
                       }});
    }
  });
  for (const spec::NumericsPreset& preset : spec::numerics_presets())
    all.push_back(
        {std::string(preset.name), [&preset, operator_name](const Numerics& numerics, DType type) {
           Numerics own = spec::numerics_preset(preset.name, type, operator_name);
           own.statistics_order = numerics.statistics_order;
           own.statistics_order_empty = numerics.statistics_order_empty;
           own.statistics_order_same_as_input = numerics.statistics_order_same_as_input;
           return own;
         }});
  std::erase_if(all, [&](const OtherNumerics& other) {
    const Numerics numerics = other.of(declared, io);
    return numerics == declared || numerics.weak;
  });
  std::ranges::stable_sort(all, {},
                           [](const OtherNumerics& other) { return place_of(other.text); });
  return all;
}

}  // namespace assay::conformance
