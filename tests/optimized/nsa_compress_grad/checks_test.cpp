#include "nsa_compress_grad/checks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "assay/optimized/nsa_compress_grad.hpp"

namespace {

using namespace assay;
using Op = spec::NsaCompressGrad;
using Call = spec::Call<Op>;
using spec::DType;
using spec::Format;
using spec::Shape;
using spec::Status;
using spec::Striding;

Op::Problem plain_problem() {
  return {.dtype = DType::bf16,
          .batch = 3,
          .heads = 4,
          .seq = 144,
          .lengths = {0, 128, 144},
          .head_dim = 48};
}

Call call_of(const Op::Problem& problem, Striding inputs = Striding::contiguous,
             Striding outputs = Striding::contiguous) {
  return spec::call_of(problem, spec::CompressEntryPoint::c1, spec::Product::a2, inputs, outputs);
}

struct Answer {
  Status status = Status::success;
  std::string message;
};

Answer answer(const Call& call) {
  try {
    optimized::nsa_compress_grad(device::a2())->check(call);
  } catch (const spec::Rejected& rejected) {
    return {rejected.status(), rejected.what()};
  }
  return {};
}

void reshape(spec::Parameter& tensor, const Shape& shape) {
  tensor.shape = shape;
  tensor.strides = spec::contiguous_strides(shape);
}

struct CheckCase {
  void (*change)(Call& call);
  std::string_view message;  ///< empty: the call is legal
  Status status = Status::param_invalid;
};

constexpr auto null = Status::param_nullptr;

/// The plain call: sums {0, 128, 272}, 15 windows of 32 tokens 16 apart, 4 heads of 48.
const CheckCase cases[] = {
    {[](Call& c) { c.parameters.input.present = false; }, "NSAC-C02: input is null; it is required",
     null},
    {[](Call& c) { c.parameters.weight = {}; }, "NSAC-C02: weight is null; it is required", null},
    {[](Call& c) { c.parameters.output_grad.present = false; },
     "NSAC-C02: output_grad is null; it is required", null},
    {[](Call& c) { c.parameters.input_grad.present = false; },
     "NSAC-C02: input_grad is null; it is required", null},
    {[](Call& c) { c.parameters.weight_grad.present = false; },
     "NSAC-C02: weight_grad is null; it is required", null},
    {[](Call& c) { c.parameters.workspace_size = false; },
     "NSAC-C03: workspaceSize is null; it is required", null},
    {[](Call& c) { c.parameters.executor = false; }, "NSAC-C03: executor is null; it is required",
     null},
    {[](Call& c) { c.parameters.input.dtype = DType::fp32; },
     "NSAC-C04: type of input is fp32; it must be fp16 or bf16"},
    {[](Call& c) { c.parameters.weight.dtype = DType::int8; },
     "NSAC-C04: type of weight is int8; it must be fp16 or bf16"},
    {[](Call& c) { c.parameters.output_grad.dtype = DType::fp32; },
     "NSAC-C05: type of output_grad is fp32; it must be fp16 or bf16"},
    {[](Call& c) { c.parameters.input_grad.dtype = DType::fp64; },
     "NSAC-C05: type of input_grad is fp64; it must be fp16 or bf16"},
    {[](Call& c) { c.parameters.weight_grad.dtype = DType::fp32; },
     "NSAC-C05: type of weight_grad is fp32; it must be fp16 or bf16"},
    {[](Call& c) { c.parameters.weight.dtype = DType::fp16; },
     "NSAC-C06: type of weight is fp16, that of input is bf16; they must be equal"},
    {[](Call& c) { c.parameters.input_grad.dtype = DType::fp16; },
     "NSAC-C06: type of input_grad is fp16, that of input is bf16; they must be equal"},
    {[](Call& c) { c.parameters.weight_grad.dtype = DType::fp16; },
     "NSAC-C06: type of weight_grad is fp16, that of input is bf16; they must be equal"},
    {[](Call& c) { c.parameters.output_grad.dtype = DType::fp16; },
     "NSAC-C06a: type of output_grad is fp16, that of input is bf16; they must be equal"},
    {[](Call& c) { c.parameters.input.format = Format::fractal_nz; },
     "NSAC-C22: format of input is FRACTAL_NZ; it must be ND"},
    {[](Call& c) { c.parameters.weight_grad.format = Format::nc1hwc0; },
     "NSAC-C22: format of weight_grad is NC1HWC0; it must be ND"},
    {[](Call& c) { c.parameters.input.format = Format::nchw; }, ""},
    {[](Call& c) {
       reshape(c.parameters.input, {272, 192});
     },
     "NSAC-C07: rank of input is 2; it must be 3"},
    {[](Call& c) { reshape(c.parameters.weight, {}); },
     "NSAC-C07: rank of weight is 0; it must be 2"},
    {[](Call& c) {
       reshape(c.parameters.output_grad, {1, 15, 4, 48});
     },
     "NSAC-C07: rank of output_grad is 4; it must be 3"},
    {[](Call& c) { reshape(c.parameters.input_grad, {272 * 4 * 48}); },
     "NSAC-C07: rank of input_grad is 1; it must be 3"},
    {[](Call& c) {
       reshape(c.parameters.weight_grad, {32, 4, 1});
     },
     "NSAC-C07: rank of weight_grad is 3; it must be 2"},
    {[](Call& c) {
       reshape(c.parameters.weight, {4, 32});
       reshape(c.parameters.weight_grad, {4, 32});
     },
     "NSAC-C08: shape of weight is [4, 32]; it must be [32, 4]"},
    {[](Call& c) { c.attributes.compress_block_size = 48; },
     "NSAC-C08: shape of weight is [32, 4]; it must be [48, 4]"},
    {[](Call& c) { c.attributes.layout = "tnd"; },
     "NSAC-C09: layout is \"tnd\"; it must be \"TND\""},
    {[](Call& c) { c.attributes.layout = ""; }, "NSAC-C09: layout is \"\"; it must be \"TND\""},
    {[](Call& c) { c.attributes.layout = "TNDX"; },
     "NSAC-C09: layout is \"TNDX\"; it must be \"TND\""},
    {[](Call& c) { c.attributes.layout.reset(); }, ""},
    {[](Call& c) { c.attributes.compress_block_size = 40; },
     "NSAC-C10: compressBlockSize is 40; it must be a multiple of 16"},
    {[](Call& c) { c.attributes.compress_block_size = 0; },
     "NSAC-C12: compressBlockSize is 0; it must not be below compressStride, which is 16"},
    {[](Call& c) { c.attributes.compress_block_size = -32; },
     "NSAC-C12: compressBlockSize is -32; it must not be below compressStride, which is 16"},
    {[](Call& c) { c.attributes.compress_stride = 24; },
     "NSAC-C11: compressStride is 24; it must be a multiple of 16"},
    {[](Call& c) { c.attributes.compress_stride = 0; },
     "NSAC-C11a: compressStride is 0; it must be at least 16"},
    {[](Call& c) { c.attributes.compress_stride = -16; },
     "NSAC-C11a: compressStride is -16; it must be at least 16"},
    {[](Call& c) { c.attributes.compress_stride = 32; },
     "NSAC-C16: shape of output_grad is [15, 4, 48]; it must be [8, 4, 48]"},
    {[](Call& c) { c.attributes.compress_stride = 48; },
     "NSAC-C12: compressBlockSize is 32; it must not be below compressStride, which is 48"},
    {[](Call& c) { c.attributes.act_seq_len_type = 2; },
     "NSAC-C13: actSeqLenType is 2; it must be 0 to 1"},
    {[](Call& c) {
       c.attributes.act_seq_len_type = 1;
       c.parameters.act_seq_len = {{100, 173}};
     },
     "NSAC-C15: sum of act_seq_len is 273; it must be the number of tokens of input, which is 272"},
    {[](Call& c) {
       c.attributes.act_seq_len_type = 1;
       c.parameters.act_seq_len = {{-1, 273}};
     },
     "NSAC-C14: entry 0 of act_seq_len is -1; it must be a length, from 0 to the number of tokens"},
    {[](Call& c) {
       c.parameters.act_seq_len = {{0, 273, 272}};
     },
     "NSAC-C14: entry 2 of act_seq_len is 272; it must be at least the sum before it, which is "
     "273"},
    {[](Call& c) {
       c.parameters.act_seq_len = {{-1, 128, 272}};
     },
     "NSAC-C14: entry 0 of act_seq_len is -1; it must be at least the sum before it, which is 0"},
    {[](Call& c) {
       c.parameters.act_seq_len = {{0, 128, 271}};
     },
     "NSAC-C15: last entry of act_seq_len is 271; it must be the number of tokens of input, which "
     "is 272"},
    {[](Call& c) {
       c.parameters.act_seq_len = {{0, 128, 1 << 20}};
     },
     "NSAC-C15: last entry of act_seq_len is 1048576; it must be the number of tokens of input, "
     "which is 272"},
    {[](Call& c) {
       reshape(c.parameters.output_grad, {16, 4, 48});
     },
     "NSAC-C16: shape of output_grad is [16, 4, 48]; it must be [15, 4, 48]"},
    {[](Call& c) {
       reshape(c.parameters.output_grad, {15, 3, 48});
     },
     "NSAC-C16: shape of output_grad is [15, 3, 48]; it must be [15, 4, 48]"},
    {[](Call& c) {
       reshape(c.parameters.output_grad, {15, 4, 32});
     },
     "NSAC-C16: shape of output_grad is [15, 4, 32]; it must be [15, 4, 48]"},
    {[](Call& c) { c.parameters.act_seq_len = {{272}}; },
     "NSAC-C16: shape of output_grad is [15, 4, 48]; it must be [16, 4, 48]"},
    {[](Call& c) {
       c.parameters.act_seq_len = {{128, 128, 272, 272}};
     },
     ""},
    {[](Call& c) { c.parameters.act_seq_len.reset(); }, ""},
    {[](Call& c) { c.parameters.act_seq_len.emplace(); }, ""},
    {[](Call& c) {
       reshape(c.parameters.input_grad, {271, 4, 48});
     },
     "NSAC-C17: shape of input_grad is [271, 4, 48]; it must be [272, 4, 48]"},
    {[](Call& c) {
       reshape(c.parameters.weight_grad, {4, 32});
     },
     "NSAC-C18: shape of weight_grad is [4, 32]; it must be [32, 4]"},
};

TEST(CompressChecks, NameTheRowTheValueAndTheLimitWithTheStatusOfTheRow) {
  for (const CheckCase& expected : cases) {
    Call call = call_of(plain_problem());
    expected.change(call);
    const Answer given = answer(call);
    EXPECT_EQ(given.message, expected.message);
    if (!expected.message.empty()) {
      EXPECT_EQ(given.status, expected.status) << given.message;
    }
  }
}

TEST(CompressChecks, AreEachBrokenBySomeCase) {
  std::set<std::string_view> broken;
  for (const CheckCase& one : cases) broken.insert(one.message.substr(0, one.message.find(':')));
  for (const auto group :
       {optimized::compress::presence_checks(), optimized::compress::tensor_checks(),
        optimized::compress::attribute_checks(), optimized::compress::shape_checks()})
    for (const auto& check : group) EXPECT_TRUE(broken.contains(check.id)) << check.id;
}

/// A disputed call of which nothing can be computed here.
constexpr std::string_view declined = "NSAC-C11a";

bool refuses(const spec::Requirement<Op>& row) {
  return row.has(spec::Side::reject) &&
         (row.binds(spec::CompressEntryPoint::c1, {}) || row.id == declined);
}

/// What is open or disputed is accepted where the call can be computed; all else that can be broken
/// is refused, by the name of its row.
TEST(CompressChecks, RefuseWhatEveryKernelMustRefuseAndNoMore) {
  int refused = 0;
  for (const auto& row : Op::requirements())
    for (const auto& violation : row.violations) {
      Call call = call_of(plain_problem());
      violation.apply(call);
      const Answer given = answer(call);
      const std::string where = std::string(row.id) + " " + std::string(violation.name);
      if (!refuses(row)) {
        EXPECT_EQ(given.message, "") << where;
        continue;
      }
      ++refused;
      EXPECT_TRUE(given.message.starts_with(std::string(row.id) + ": "))
          << where << ", got " << given.message;
      if (!row.status.any) {
        EXPECT_EQ(given.status, row.status.code) << where;
      }
    }
  EXPECT_GT(refused, 38);
}

TEST(CompressChecks, TakeEveryLegalProblemHoweverStrided) {
  for (const Striding striding : {Striding::contiguous, Striding::padded, Striding::transposed})
    for (const DType dtype : {DType::fp16, DType::bf16})
      for (const auto& [size, stride] :
           {std::pair{32, 16}, {128, 16}, {128, 112}, {2048, 1024}, {64, 64}}) {
        Op::Problem problem = plain_problem();
        problem.dtype = dtype, problem.compress_block_size = size, problem.compress_stride = stride;
        problem.lengths = {0, 31, 3000, 32, 32, 5000}, problem.batch = 6, problem.seq = 5000;
        EXPECT_EQ(answer(call_of(problem, striding, striding)).message, "");
      }
}

TEST(CompressChecks, TakeTheCallOfTheDocumentedExample) {
  Op::Problem problem = plain_problem();
  problem.dtype = DType::fp16, problem.heads = 64, problem.head_dim = 128;
  Call call = call_of(problem);
  EXPECT_EQ(call.parameters.output_grad.shape, (Shape{15, 64, 128}));
  EXPECT_EQ(*call.parameters.act_seq_len, (std::vector<std::int64_t>{0, 128, 272}));
  EXPECT_EQ(answer(call).message, "");
  call.product = spec::Product::a3;
  EXPECT_EQ(answer(call).message, "");
}

/// 2^40 tokens: no product of sizes may wrap.
TEST(CompressChecks, CountWindowsOfHugeTensors) {
  Op::Problem problem = plain_problem();
  problem.batch = 1, problem.lengths = {}, problem.seq = std::int64_t{1} << 40;
  Call call = call_of(problem);
  EXPECT_EQ(answer(call).message, "");
  --call.parameters.output_grad.shape[0];
  EXPECT_TRUE(answer(call).message.starts_with("NSAC-C16: "));
}

TEST(CompressUnsupported, IsNoCall) {
  const auto implementation = optimized::nsa_compress_grad(device::a2());
  for (const CheckCase& one : cases) {
    Call call = call_of(plain_problem());
    one.change(call);
    EXPECT_EQ(implementation->unsupported(call), std::nullopt);
  }
}

}  // namespace
