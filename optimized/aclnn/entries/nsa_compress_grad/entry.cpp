#include <numeric>

#include "aclnn/entries/phases.hpp"
#include "aclnn/entries/workspace_size.hpp"
#include "aclnnop/aclnn_nsa_compress_grad.h"
#include "assay/optimized/nsa_compress_grad/tiling.hpp"

namespace assay::aclnn {
namespace {

using Op = spec::NsaCompressGrad;
using Call = spec::Call<Op>;

/// Returns the cumulative lengths. With actSeqLenType 1 the array contains lengths, which are added
/// up; a null array means one sequence.
std::vector<std::int64_t> sums_of(const Call& call) {
  const auto& given = call.parameters.act_seq_len;
  if (!given || given->empty()) return {call.parameters.input.shape[0]};
  std::vector<std::int64_t> sums = *given;
  if (call.attributes.act_seq_len_type == 1)
    std::partial_sum(sums.begin(), sums.end(), sums.begin());
  return sums;
}

Op::Problem problem_of(const Call& call) {
  const auto& p = call.parameters;
  const SequenceLengths lengths = lengths_of(sums_of(call));
  return {.dtype = p.input.dtype,
          .batch = static_cast<std::int64_t>(lengths.all.size()),
          .heads = p.input.shape[1],
          .seq = lengths.longest,
          .lengths = lengths.all,
          .head_dim = p.input.shape[2],
          .compress_block_size = call.attributes.compress_block_size,
          .compress_stride = call.attributes.compress_stride};
}

void run(Device& device, const Op::Problem& problem, const Bindings& tensors) {
  const Op::Inputs inputs = {.output_grad = tensors.gather("outputGrad"),
                             .input = tensors.gather("input"),
                             .weight = tensors.gather("weight")};
  Op::Outputs outputs = {.input_grad = tensors.blank("inputGradOut"),
                         .weight_grad = tensors.blank("weightGradOut")};
  device.nsa_compress_grad.with_one([&](auto& kernel) { kernel.run(problem, inputs, outputs); });
  tensors.scatter("inputGradOut", outputs.input_grad);
  tensors.scatter("weightGradOut", outputs.weight_grad);
}

/// Bytes of the fp32 partial sums of weight_grad: one set of sums for each part of the tokens.
std::uint64_t workspace_size(const Op::Problem& problem,
                             const optimized::compress::Tiling& tiling) {
  WorkspaceSize size;
  size.add_floats(problem.heads * problem.compress_block_size * tiling.partials());
  return size.bytes();
}

PlannedRun decide(const std::shared_ptr<Device>& device, const Operands& operands,
                  const Call& call) {
  device->nsa_compress_grad.check(call);
  operands.require_size(device->memory);
  const Op::Problem problem = problem_of(call);
  PlannedRun plan = {
      .run = [device, problem](const Bindings& tensors) { run(*device, problem, tensors); }};
  if (spec::element_count(call.parameters.input.shape) > 0)
    plan.workspace_size = workspace_size(problem, optimized::compress::plan(problem, device->spec));
  return plan;
}

}  // namespace
}  // namespace assay::aclnn

using namespace assay;

extern "C" {

aclnnStatus aclnnNsaCompressGradGetWorkspaceSize(
    const aclTensor* outputGrad, const aclTensor* input, const aclTensor* weight,
    const aclIntArray* actSeqLenOptionalOptional, int64_t compressBlockSize, int64_t compressStride,
    int64_t actSeqLenType, char* layoutOptionalOptional, const aclTensor* inputGradOut,
    const aclTensor* weightGradOut, uint64_t* workspaceSize, aclOpExecutor** executor) {
  const aclnn::Phase1 phase = {"aclnnNsaCompressGradGetWorkspaceSize", "aclnnNsaCompressGrad",
                               workspaceSize, executor};
  return phase_1(phase, [&](const std::shared_ptr<aclnn::Device>& device, aclnn::Operands& given) {
    const aclnn::Call call{
        .entry_point = spec::CompressEntryPoint::c1,
        .product = device->product,
        .parameters = {.output_grad = given.tensor("outputGrad", outputGrad),
                       .input = given.tensor("input", input),
                       .weight = given.tensor("weight", weight),
                       .input_grad = given.tensor("inputGradOut", inputGradOut),
                       .weight_grad = given.tensor("weightGradOut", weightGradOut),
                       .act_seq_len =
                           given.array("actSeqLenOptionalOptional", actSeqLenOptionalOptional),
                       .workspace_size = workspaceSize != nullptr,
                       .executor = executor != nullptr},
        .attributes = {.compress_block_size = compressBlockSize,
                       .compress_stride = compressStride,
                       .act_seq_len_type = actSeqLenType,
                       .layout = aclnn::text(layoutOptionalOptional)}};
    return aclnn::decide(device, given, call);
  });
}

aclnnStatus aclnnNsaCompressGrad(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                 aclrtStream stream) {
  return aclnn::phase_2({"aclnnNsaCompressGrad", workspace, workspaceSize, executor, stream});
}

}  // extern "C"
