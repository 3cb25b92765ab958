#include "assay/conformance/report/record.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <stdexcept>

#include "assay/conformance/operators.hpp"
#include "assay/fixtures/file.hpp"

namespace assay::conformance {
namespace {

using Op = spec::FlashAttentionScoreGrad;
using FlashCase = Case<Op>;

/// Makes a case with every optional tensor except the position bias, which cannot be combined with
/// rope.
FlashCase rope_case() {
  FlashCase c;
  c.entry_point = spec::FlashEntryPoint::u3;
  c.problem = {.input_layout = spec::Layout::tnd,
               .batch = 2,
               .seq_q = 6,
               .seq_kv = 5,
               .lengths_q = {4, 6},
               .head_dim_rope = 8,
               .atten_mask = spec::MaskShape::ss};
  return c;
}

const fixtures::Field& field(const fixtures::CaseRecord& record, const std::string& name) {
  for (const auto& [found, value] : record.problem)
    if (found == name) return value;
  throw std::out_of_range(name);
}

std::string refusal(const FlashCase& c, const std::vector<fixtures::NamedTensor>& outputs) {
  try {
    outputs_from(c, outputs);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Record, HoldsListsAsNumbers) {
  const auto record = recipe(rope_case());
  EXPECT_EQ(field(record, "lengths_q"), fixtures::Field(std::vector<std::int64_t>{4, 6}));
  EXPECT_EQ(field(record, "lengths_kv"), fixtures::Field(std::vector<std::int64_t>{}));
  EXPECT_EQ(field(record, "seq_kv"), fixtures::Field(std::int64_t{5}));
  EXPECT_EQ(field(record, "layout"), fixtures::Field(std::string("TND")));
  EXPECT_EQ(record.problem.size(), 31u);
}

TEST(Record, EveryTensorComesBackFromAFile) {
  FlashCase with_bias = rope_case();
  with_bias.entry_point = spec::FlashEntryPoint::u2;
  with_bias.problem.head_dim_rope = 0;
  with_bias.problem.pse_shift = spec::PseShape::packed_bnss;
  with_bias.problem.drop_mask = spec::DropMask::granules;
  with_bias.problem.keep_prob = 0.5;
  with_bias.inputs = spec::Striding::padded;
  const auto path = std::filesystem::temp_directory_path() /
                    ("assay-record-" + std::to_string(::getpid()) + ".h5");
  for (const FlashCase& c : {rope_case(), with_bias}) {
    fixtures::CaseRecord record = recipe(c);
    record.inputs = named_tensors(make_inputs(c));
    for (const auto& [name, tensor] : record.inputs)
      record.digests[name] = fixtures::digest(tensor);
    fixtures::Writer writer(path);
    writer.write(record);
    writer.close();
    const auto read = fixtures::Reader(path).read(record.id);
    std::filesystem::remove(path);
    ASSERT_EQ(read.inputs.size(), record.inputs.size());
    for (std::size_t k = 0; k < read.inputs.size(); ++k) {
      EXPECT_EQ(read.inputs[k].name, record.inputs[k].name);
      EXPECT_EQ(read.inputs[k].tensor.bytes, record.inputs[k].tensor.bytes);
      EXPECT_EQ(read.inputs[k].tensor.strides, record.inputs[k].tensor.strides);
    }
  }
}

TEST(Record, OutputsOfRopeAreTaken) {
  FlashCase c = rope_case();
  auto tensors = named_tensors(make_outputs(c));
  ASSERT_EQ(tensors.size(), 5u);
  for (auto& [name, tensor] : tensors) std::ranges::fill(tensor.bytes, std::byte{0x11});
  c.outputs = spec::Striding::padded;
  const Op::Outputs outputs = outputs_from(c, tensors);
  for (const std::int64_t element : viewed_elements(*outputs.dk_rope))
    EXPECT_EQ(outputs.dk_rope->load(element), tensors[0].tensor.load(0));
  tensors.erase(tensors.begin() + 1);
  EXPECT_EQ(refusal(c, tensors), "output 'dq_rope' is absent");
  c.problem.head_dim_rope = 0;
  c.entry_point = spec::FlashEntryPoint::u2;
  EXPECT_EQ(refusal(c, tensors), "'dk_rope' is not an output; expected one of dq, dk, dv");
}

/// 1 + 2^-8 and 3 + 2^-7 are exactly half-way between two bf16 numbers. 1 + 2^-8 + 2^-30 is not.
TEST(Record, ExpectedValuesAreRoundedAsTheNumericsRound) {
  const Expected expected{
      .name = "dq",
      .value = {1 + 0x1p-8, -(1 + 0x1p-8), 1 + 0x1p-8 + 0x1p-30, 0, 0x1p-133, 0x1p200},
      .radius = std::vector<double>(6),
      .tau = std::vector<float>(6),
      .rows = {},
      .dim = 3};
  const auto rounded = [&](spec::Numerics numerics) {
    const spec::Tensor tensor = rounded_rows(expected, spec::DType::bf16, numerics);
    EXPECT_EQ(tensor.shape, (spec::Shape{2, 3}));
    std::vector<double> values;
    for (std::int64_t k = 0; k < 6; ++k) values.push_back(tensor.load(k));
    return values;
  };
  using Values = std::vector<double>;
  EXPECT_EQ(rounded({.round_out = spec::Rounding::rne}),
            (Values{1, -1, 1 + 0x1p-7, 0, 0x1p-133, HUGE_VAL}));
  EXPECT_EQ(rounded({.round_out = spec::Rounding::rna}),
            (Values{1 + 0x1p-7, -1 - 0x1p-7, 1 + 0x1p-7, 0, 0x1p-133, HUGE_VAL}));
  EXPECT_EQ(rounded({.round_out = spec::Rounding::rtz}),
            (Values{1, -1, 1, 0, 0x1p-133, 0x1.fep127}));
}

/// Some sums of the exact case lie exactly half-way between two bf16 numbers. The declared kernel
/// rounds them away from zero, and the stored case must do the same.
TEST(Record, StoredExactCasesHoldWhatTheirKernelsWrite) {
  const FlashCase c = {
      .problem = {.dtype = spec::DType::bf16, .seq_q = 16, .seq_kv = 16, .scale_value = 0.0625},
      .track = Track::exact};
  PreparedCase<Op> prepared(c);
  std::int64_t away = 0;
  for (const char* preset : {"ascend_a2", "fp32_staging"}) {
    const auto numerics = spec::numerics_preset(preset, c.problem.dtype);
    for (const fixtures::ExpectedTensor& e : stored_expected(
             prepared.expected(numerics), [](auto) { return spec::DType::bf16; }, numerics, preset))
      for (std::size_t k = 0; k < e.value.size(); ++k) {
        const double even = spec::round_to(e.value[k], spec::bf16_format);
        const double stored = e.rounded.load(static_cast<std::int64_t>(k));
        if (numerics.round_out == spec::Rounding::rne)
          EXPECT_EQ(stored, even);
        else
          away += std::abs(stored) > std::abs(even) ? 1 : 0;
      }
  }
  EXPECT_GT(away, 0);
}

}  // namespace
}  // namespace assay::conformance
