#include "operators/contradiction_lists.hpp"
#include "operators/nsa_table.hpp"

namespace assay::spec::detail {
namespace {

using nsa::compress_page;
using nsa::upstream_compress_forward;
using nsa::upstream_compress_tiling;

constexpr std::string_view upstream_kernels =
    "ops-transformer: attention/nsa_compress_grad/op_kernel";
constexpr std::string_view unit_tests = "ops-transformer: attention/nsa_compress_grad/tests";

}  // namespace

std::vector<Contradiction> compress_contradictions() {
  return {
      {.id = "NSAC-Q1",
       .subject = "query, key, value, attenMaskOptional and actualSeqQLenOptional",
       .claims = {{{compress_page, "parameters"}, "The table of parameters lists these names."},
                  {{compress_page, "prototype"}, "The prototype has no such parameters."}},
       .reading = "The prototype decides: these parameters belong to another operator."},
      {.id = "NSAC-Q2",
       .subject = "names",
       .claims = {{{compress_page, "parameters"},
                   "actSeqLenOptional, layoutOptional, inputGrad, weightGrad."},
                  {{compress_page, "prototype"},
                   "actSeqLenOptionalOptional, layoutOptionalOptional, inputGradOut, "
                   "weightGradOut."}},
       .reading = "Both lists of names mean the same parameters."},
      {.id = "NSAC-Q3",
       .subject = "the operator that the formulas describe",
       .claims = {{{compress_page, "formulas"},
                   "The sentence before the formulas announces the forward of selected attention."},
                  {{compress_page, "description"}, "The operator is the backward of NsaCompress."}},
       .reading = "The formulas describe the backward of NsaCompress."},
      {.id = "NSAC-Q4",
       .subject = "shape of weight",
       .claims = {{{compress_page, "parameters"}, "weight can be broadcast with input."},
                  {{upstream_compress_forward, "parameters"}, "[compressBlockSize, N]."}},
       .reading = "[compressBlockSize, N]."},
      {.id = "NSAC-Q5",
       .subject = "entries of actSeqLen",
       .claims = {{{compress_page, "parameters"}, "The entries describe the S of each batch."},
                  {{compress_page, "example"}, "The example passes cumulative sums."}},
       .reading = "The entries are cumulative sums: this is the meaning of actSeqLenType 0."},
      {.id = "NSAC-Q6",
       .subject = "a leading 0 in actSeqLen",
       .claims = {{{compress_page, "example"}, "The array begins with 0."},
                  {{upstream_compress_forward, "example"}, "The array begins with a length."}},
       .reading = "Both forms are right: a leading 0 is an empty sequence, which has no window."},
      {.id = "NSAC-Q7",
       .subject = "a stride as large as the block",
       .claims = {{{compress_page, "constraints"}, "compressBlockSize > compressStride."},
                  {{upstream_compress_forward, "constraints"},
                   "compressBlockSize >= compressStride."},
                  {{upstream_compress_tiling, "windows"}, "Neither is checked."}},
       .reading = "The page forbids this call, but the vendor's code accepts it."},
      {.id = "NSAC-Q8",
       .subject = "layouts other than TND",
       .claims = {{{compress_page, "return values"}, "They give 161002."},
                  {{upstream_compress_tiling, "layout"}, "The code never reads the layout."}},
       .reading = "The page decides: 161002."},
      {.id = "NSAC-Q9",
       .subject = "actSeqLenType 1",
       .claims = {{{compress_page, "parameters"}, "Only actSeqLenType 0 is supported so far."},
                  {{upstream_kernels, "lengths"},
                   "With actSeqLenType 1 the code reads the array "
                   "as lengths."}},
       .reading = "The page forbids this call, but the vendor's code accepts it."},
      {.id = "NSAC-Q10",
       .subject = "a call without actSeqLen",
       .claims = {{{compress_page, "parameters"}, "The array is optional."},
                  {{upstream_compress_forward, "parameters"}, "The array is required."},
                  {{upstream_compress_tiling, "lengths"}, "A null array cannot be used."}},
       .reading = "A kernel may accept or refuse such a call."},
      {.id = "NSAC-Q11",
       .subject = "Atlas A3",
       .claims = {{{compress_page, "products"}, "Atlas A3 does not offer the operator."},
                  {{upstream_compress_tiling, "operator prototype"},
                   "The operator is registered for A3."}},
       .reading = "Not offered."},
      {.id = "NSAC-Q12",
       .subject = "the array of a unit test",
       .claims = {{{unit_tests, "op_host"},
                   "The test adds up {0,120,140,272} once more, although these are sums already; "
                   "this gives 532 tokens for T = 272."},
                  {{unit_tests, "op_host"},
                   "The test expects 13 windows, as if the array "
                   "contained sums."}},
       .reading = "Sums: 0 + 6 + 0 + 7 windows are 13."},
      {.id = "NSAC-Q13",
       .subject = "largest head size",
       .claims = {{{upstream_compress_forward, "constraints"}, "D is at most 256."},
                  {{"ops-transformer: attention/nsa_compress/tests", "op_host"},
                   "D = 1024 succeeds."}},
       .reading = "NsaCompressGrad has no limit for the head size D."},
      {.id = "NSAC-Q14",
       .subject = "status of a call without actSeqLen",
       .claims = {{{compress_page, "return values"},
                   "The list of causes of 161001 does not contain this array."}},
       .reading = "No page says that a null array is refused."},
      {.id = "NSAC-Q15",
       .subject = "types in the example",
       .claims = {{{compress_page, "example"},
                   "The example copies float buffers into fp16 tensors."}},
       .reading = "The example must run; its numbers are not expected values."},
  };
}

}  // namespace assay::spec::detail
