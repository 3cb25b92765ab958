#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <tuple>

#include "assay/conformance/case/case.hpp"
#include "assay/spec/tensor.hpp"
#include "stored/stored_case.hpp"

namespace assay::cli {

/// Estimates the size of a case file from the shapes alone, before any tensor is computed.
class ExportSize {
 public:
  explicit ExportSize(Contents contents, bool with_outputs)
      : contents_(contents), with_outputs_(with_outputs) {}

  std::int64_t bytes() const { return bytes_; }

  template <class Op>
  void add(const conformance::Case<Op>& c) {
    bytes_ += contents_ == Contents::recipe ? recipe_overhead : case_overhead;
    if (contents_ == Contents::recipe) return;
    const std::set<std::string_view> outputs = output_names<Op>();
    const spec::Call<Op> call = conformance::call_of(c);
    visit_fields(call.parameters, [&](std::string_view name, const auto& member) {
      if constexpr (std::same_as<std::decay_t<decltype(member)>, spec::Parameter>) {
        if (!member.present) return;
        outputs.contains(name) ? add_output(member, judged_share(c)) : add_input(name, member);
      }
    });
  }

 private:
  /// Measured overhead per case of HDF5 groups, attributes, texts and headers (bytes).
  static constexpr std::int64_t recipe_overhead = 7'500, case_overhead = 15'000;
  static constexpr std::int64_t value_radius_tau = 8 + 8 + 4;

  template <class Op>
  static std::set<std::string_view> output_names() {
    std::set<std::string_view> names;
    typename Op::Outputs outputs;
    visit_fields(outputs, [&](std::string_view name, auto&) { names.insert(name); });
    return names;
  }

  /// Returns the fraction of the output rows that is judged.
  template <class Op>
  static double judged_share(const conformance::Case<Op>& c) {
    if (c.rows == 0) return 1;
    std::int64_t longest = 1;
    visit_fields(c.problem, [&](std::string_view name, const auto& member, std::string_view) {
      if constexpr (std::same_as<std::decay_t<decltype(member)>, std::int64_t>)
        if (name.starts_with("seq")) longest = std::max(longest, member);
    });
    return std::min(1.0, static_cast<double>(c.rows) / static_cast<double>(longest));
  }

  void add_output(const spec::Parameter& output, double share) {
    const auto elements = static_cast<double>(spec::element_count(output.shape));
    const std::int64_t size = spec::size_of(output.dtype);
    bytes_ += static_cast<std::int64_t>(share * elements) * (value_radius_tau + size);
    if (with_outputs_) bytes_ += static_cast<std::int64_t>(elements) * size;
  }

  /// Adds the size of an input. A mask with this number of elements is compressed. The file stores
  /// equal compressed masks only once, because there are only a few different ones.
  void add_input(std::string_view name, const spec::Parameter& input) {
    constexpr std::int64_t compressed = 2048 * 2048;
    const std::int64_t elements = spec::element_count(input.shape);
    if (name == "atten_mask" && elements >= compressed &&
        !masks_.emplace(input.dtype, input.shape, input.strides).second)
      return;
    const bool dense = input.offset == 0 && input.strides == spec::contiguous_strides(input.shape);
    const std::int64_t stored =
        dense ? 0 : spec::storage_elements(input.shape, input.strides, input.offset);
    bytes_ += spec::size_of(input.dtype) * (elements + stored);
  }

  Contents contents_;
  bool with_outputs_;
  std::int64_t bytes_ = 0;
  std::set<std::tuple<spec::DType, spec::Shape, spec::Shape>> masks_;
};

}  // namespace assay::cli
