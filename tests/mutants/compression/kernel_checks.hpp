#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "assay/mutants/mutant.hpp"
#include "assay/spec/requirement.hpp"
#include "geometries.hpp"
#include "rounding.hpp"

/// Checks for the test kernels of NsaCompress and its gradient.
namespace assay::mutants::compress {

/// A call with its inputs and its expected outputs. The formulas give the expected outputs without
/// rounding.
template <class Op>
struct Sample {
  spec::CompressionProblem problem;
  typename Op::Inputs inputs = {};
  typename Op::Outputs outputs = {};  ///< filled with 0xAB
  std::vector<std::vector<double>> expected = {};
};

/// The type of input values. With `exact` all sums are exact in fp32, so two kernels differ only if
/// their formulas differ. With `rounding` the sums are rounded.
enum class Numbers { exact, rounding };

/// Fills the tensor with integers up to `largest` in magnitude (Numbers::exact), or with arbitrary
/// numbers.
inline void fill(spec::Tensor& tensor, Numbers numbers, std::uint32_t largest,
                 std::uint32_t& state) {
  for (const std::int64_t element : viewed_elements(tensor)) {
    state = state * 1664525U + 1013904223U;
    tensor.store(element, numbers == Numbers::exact
                              ? static_cast<double>((state >> 16) % (2 * largest + 1)) - largest
                              : static_cast<std::int32_t>(state) * 0x1p-30);
  }
}

inline std::vector<double> values(const spec::Tensor& tensor) {
  std::vector<double> all;
  for (const std::int64_t element : viewed_elements(tensor)) all.push_back(tensor.load(element));
  return all;
}

template <class Op>
constexpr auto only_entry_point = spec::spellings_of<typename Op::EntryPoint>.entries[0].first;

template <class Op>
spec::Call<Op> call_of_geometry(const Geometry& geometry) {
  return call_of(geometry.problem, only_entry_point<Op>, spec::Product::a2, geometry.inputs,
                 geometry.outputs);
}

/// Makes a call with inputs. `formulas(sample)` computes the expected outputs.
template <class Op>
Sample<Op> sample_of(Geometry geometry, spec::DType dtype, Numbers numbers,
                     void (*formulas)(Sample<Op>& sample)) {
  geometry.problem.dtype = dtype;
  Sample<Op> sample = {.problem = geometry.problem};
  auto parameters = call_of_geometry<Op>(geometry).parameters;
  std::uint32_t state = 7;
  const auto make = [&](std::string_view name, spec::Tensor& tensor) {
    visit_fields(parameters, [&](std::string_view own, auto& parameter) {
      if constexpr (requires { parameter.strides; })
        if (own == name)
          tensor = {.dtype = parameter.dtype,
                    .shape = parameter.shape,
                    .strides = parameter.strides,
                    .offset = parameter.offset,
                    .bytes = {}};
    });
    const std::int64_t elements =
        spec::storage_elements(tensor.shape, tensor.strides, tensor.offset);
    tensor.bytes = std::vector<std::byte>(static_cast<std::size_t>(elements * size_of(dtype)),
                                          std::byte{0xAB});
  };
  visit_fields(sample.inputs, [&](std::string_view name, spec::Tensor& tensor) {
    make(name, tensor);
    fill(tensor, numbers, name == "weight" ? 63 : 7, state);
  });
  visit_fields(sample.outputs, make);
  formulas(sample);
  return sample;
}

template <class Op>
std::vector<Sample<Op>> exact_samples(void (*formulas)(Sample<Op>& sample)) {
  std::vector<Sample<Op>> all;
  for (const Geometry& geometry : geometries())
    for (const spec::DType dtype : {spec::DType::bf16, spec::DType::fp16})
      all.push_back(sample_of<Op>(geometry, dtype, Numbers::exact, formulas));
  return all;
}

/// Returns whether the elements of the view equal the expected ones, rounded as declared, and
/// whether all other bytes are unchanged.
inline bool is_right(const spec::Tensor& tensor, const std::vector<double>& expected,
                     spec::Rounding rounding) {
  spec::Tensor golden = tensor;
  std::ranges::fill(golden.bytes, std::byte{0xAB});
  const auto elements = viewed_elements(tensor);
  for (std::size_t k = 0; k < elements.size(); ++k) {
    const float rounded_once = rounded(static_cast<float>(expected[k]), tensor.dtype, rounding);
    if (tensor.load(elements[k]) != rounded_once) return false;
    golden.store(elements[k], tensor.load(elements[k]));
  }
  return golden.bytes == tensor.bytes;
}

template <class Op>
bool is_exact(const MutantOf<Op>& mutant, const Sample<Op>& sample) {
  const auto kernel = mutant.make();
  const spec::Rounding rounding = kernel->numerics(sample.problem).round_out;
  typename Op::Outputs outputs = sample.outputs;
  kernel->run(sample.problem, sample.inputs, outputs);
  std::size_t right = 0, count = 0;
  visit_fields(outputs, [&](std::string_view, const spec::Tensor& tensor) {
    right += is_right(tensor, sample.expected[count++], rounding);
  });
  return right == count;
}

template <class Op>
void expect_all_exact(const std::vector<MutantOf<Op>>& variants,
                      const std::vector<Sample<Op>>& samples) {
  for (const MutantOf<Op>& variant : variants)
    for (std::size_t k = 0; k < samples.size(); ++k)
      EXPECT_TRUE(is_exact(variant, samples[k])) << variant.name << " on sample " << k;
}

/// Expects that each mutant (kernel with an injected fault) is wrong on at least one sample. Skips
/// mutants whose name ends with a text in `except`.
template <class Op>
void expect_each_wrong(const std::vector<MutantOf<Op>>& mutants,
                       const std::vector<Sample<Op>>& samples,
                       const std::vector<std::string_view>& except) {
  for (const MutantOf<Op>& mutant : mutants) {
    if (std::ranges::any_of(except,
                            [&](std::string_view end) { return mutant.name.ends_with(end); }))
      continue;
    const bool shown = std::ranges::any_of(
        samples, [&](const Sample<Op>& sample) { return !is_exact(mutant, sample); });
    EXPECT_TRUE(shown) << mutant.name;
  }
}

/// Expects that the mutant `unsteady` gives different bits in different runs, and that kernels that
/// declare a fixed order of additions do not.
template <class Op>
void expect_fixed_orders(const std::vector<MutantOf<Op>>& variants, const MutantOf<Op>& unsteady,
                         const Sample<Op>& sample) {
  const auto differs = [&](const MutantOf<Op>& mutant) {
    const auto kernel = mutant.make();
    const auto bytes = [&] {
      typename Op::Outputs outputs = sample.outputs;
      kernel->run(sample.problem, sample.inputs, outputs);
      std::vector<spec::Storage> all;
      visit_fields(outputs,
                   [&](std::string_view, const spec::Tensor& t) { all.push_back(t.bytes); });
      return all;
    };
    const auto first = bytes();
    for (int run = 0; run < 8; ++run)
      if (bytes() != first) return true;
    return false;
  };
  for (const MutantOf<Op>& variant : variants)
    if (variant.make()->numerics({}).order == spec::Order::fixed) {
      EXPECT_FALSE(differs(variant)) << variant.name;
    }
  EXPECT_TRUE(differs(unsteady));
}

/// Returns the id of the requirement whose check refuses the call. Returns an empty text if no
/// check refuses the call.
template <class Op>
std::string refusal(const MutantOf<Op>& mutant, const spec::Call<Op>& call) {
  try {
    mutant.make()->check(call);
  } catch (const spec::Rejected& rejected) {
    const std::string text = rejected.what();
    return text.substr(0, text.find(':'));
  }
  return "";
}

/// Tests the argument checks of the mutants (changed kernels). The first two mutants are correct:
/// they accept every legal call, and the check of the violated requirement refuses an illegal one.
/// The first mutant has only the checks that a kernel must have. Other mutants lack one check, and
/// must accept a call that violates its requirement.
template <class Op>
void expect_checks_of_requirements(const std::vector<MutantOf<Op>>& mutants) {
  const spec::Call<Op> plain = call_of_geometry<Op>({.problem = geometries().front().problem});
  for (const Geometry& geometry : geometries())
    for (std::size_t k = 0; k < 2; ++k)
      EXPECT_EQ(refusal(mutants[k], call_of_geometry<Op>(geometry)), "");
  for (const auto& row : Op::requirements()) {
    const auto without =
        std::ranges::find(mutants, "without_" + std::string(row.id), &MutantOf<Op>::name);
    int accepted = 0;
    for (const auto& violation : row.violations) {
      spec::Call<Op> call = plain;
      violation.apply(call);
      // The call must be refused by the check of the requirement that it violates. If it violates
      // several requirements, each of their checks may refuse it.
      const auto is_expected = [&](const std::string& id) {
        return id == row.id || std::ranges::find(row.implies, id) != row.implies.end();
      };
      const std::string first = refusal(mutants[0], call);
      EXPECT_TRUE(row.binds(only_entry_point<Op>, {}) ? is_expected(first) : first.empty())
          << row.id << ' ' << violation.name;
      EXPECT_TRUE(is_expected(refusal(mutants[1], call))) << row.id << ' ' << violation.name;
      accepted += without != mutants.end() && refusal(*without, call).empty();
    }
    if (without != mutants.end()) {
      EXPECT_GT(accepted, 0) << without->name;
    }
  }
}

template <class Op>
void expect_own_names_healthy_first(std::size_t least) {
  std::set<std::string> names;
  bool healthy = true;
  for (const MutantOf<Op>& mutant : mutants<Op>()) {
    EXPECT_TRUE(names.insert(mutant.name).second) << mutant.name;
    EXPECT_EQ(mutant.make()->name(), mutant.name);
    EXPECT_TRUE(healthy || !mutant.healthy) << mutant.name;
    healthy = mutant.healthy;
  }
  EXPECT_GE(names.size(), least);
}

}  // namespace assay::mutants::compress
