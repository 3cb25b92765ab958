#include "aclnn/entries/phases.hpp"
#include "aclnnop/aclnn_nsa_compress.h"

namespace assay::aclnn {
namespace {

using ForwardOp = spec::NsaCompress;
using ForwardCall = spec::Call<ForwardOp>;

ForwardOp::Problem forward_problem_of(const ForwardCall& call) {
  const spec::Parameter& input = call.parameters.input;
  const SequenceLengths lengths = lengths_of(*call.parameters.act_seq_len);
  return {.dtype = input.dtype,
          .batch = static_cast<std::int64_t>(lengths.all.size()),
          .heads = input.shape[1],
          .seq = lengths.longest,
          .lengths = lengths.all,
          .head_dim = input.shape[2],
          .compress_block_size = call.attributes.compress_block_size,
          .compress_stride = call.attributes.compress_stride};
}

void compress(Device& device, const ForwardOp::Problem& problem, const Bindings& tensors) {
  const ForwardOp::Inputs inputs = {.input = tensors.gather("input"),
                                    .weight = tensors.gather("weight")};
  ForwardOp::Outputs outputs = {.output = tensors.blank("output")};
  device.nsa_compress.with_one([&](auto& kernel) { kernel.run(problem, inputs, outputs); });
  tensors.scatter("output", outputs.output);
}

PlannedRun decide(const std::shared_ptr<Device>& device, const Operands& operands,
                  const ForwardCall& call) {
  device->nsa_compress.check(call);
  operands.require_size(device->memory);
  return {.run = [device, problem = forward_problem_of(call)](const Bindings& tensors) {
    compress(*device, problem, tensors);
  }};
}

}  // namespace
}  // namespace assay::aclnn

using namespace assay;

extern "C" {

aclnnStatus aclnnNsaCompressGetWorkspaceSize(const aclTensor* input, const aclTensor* weight,
                                             const aclIntArray* actSeqLenOptional,
                                             char* layoutOptional, int64_t compressBlockSize,
                                             int64_t compressStride, int64_t actSeqLenType,
                                             aclTensor* output, uint64_t* workspaceSize,
                                             aclOpExecutor** executor) {
  const aclnn::Phase1 phase = {"aclnnNsaCompressGetWorkspaceSize", "aclnnNsaCompress",
                               workspaceSize, executor};
  return phase_1(phase, [&](const std::shared_ptr<aclnn::Device>& device, aclnn::Operands& given) {
    const aclnn::ForwardCall call{
        .entry_point = spec::NsaCompressEntryPoint::f1,
        .product = device->product,
        .parameters = {.input = given.tensor("input", input),
                       .weight = given.tensor("weight", weight),
                       .output = given.tensor("output", output),
                       .act_seq_len = given.array("actSeqLenOptional", actSeqLenOptional),
                       .workspace_size = workspaceSize != nullptr,
                       .executor = executor != nullptr},
        .attributes = {.compress_block_size = compressBlockSize,
                       .compress_stride = compressStride,
                       .act_seq_len_type = actSeqLenType,
                       .layout = aclnn::text(layoutOptional)}};
    return aclnn::decide(device, given, call);
  });
}

aclnnStatus aclnnNsaCompress(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                             aclrtStream stream) {
  return aclnn::phase_2({"aclnnNsaCompress", workspace, workspaceSize, executor, stream});
}

}  // extern "C"
