#include "aclnn/entries/nsa_compress_grad/forward.hpp"
#include "aclnn/entries/phases.hpp"
#include "aclnnop/aclnn_nsa_compress.h"

namespace assay::aclnn {
namespace {

void run(const Compression& compression, const Bindings& tensors) {
  spec::Tensor output = tensors.blank("output");
  compress(compression, tensors.gather("input"), tensors.gather("weight"), output);
  tensors.scatter("output", output);
}

PlannedRun decide(const Device& device, const Operands& operands, const CompressCall& call) {
  refuse_unless_legal(call);
  operands.require_size(device.memory);
  const Compression compression = {.lengths = lengths_of(*call.act_seq_len).all,
                                   .compress_block_size = call.compress_block_size,
                                   .compress_stride = call.compress_stride};
  return {.run = [compression](const Bindings& tensors) { aclnn::run(compression, tensors); }};
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
    const aclnn::CompressCall call = {
        .input = given.tensor("input", input),
        .weight = given.tensor("weight", weight),
        .output = given.tensor("output", output),
        .act_seq_len = given.array("actSeqLenOptional", actSeqLenOptional),
        .layout = aclnn::text(layoutOptional),
        .compress_block_size = compressBlockSize,
        .compress_stride = compressStride,
        .act_seq_len_type = actSeqLenType,
        .workspace_size = workspaceSize != nullptr,
        .executor = executor != nullptr};
    return aclnn::decide(*device, given, call);
  });
}

aclnnStatus aclnnNsaCompress(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                             aclrtStream stream) {
  return aclnn::phase_2({"aclnnNsaCompress", workspace, workspaceSize, executor, stream});
}

}  // extern "C"
