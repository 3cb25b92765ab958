#include "operators/contradiction_lists.hpp"
#include "operators/nsa_table.hpp"

namespace assay::spec::detail {
namespace {

using nsa::selected_page;
using nsa::upstream_compress_tiling;
using nsa::upstream_selected_forward;
using nsa::upstream_selected_kernels;
using nsa::upstream_selected_tiling;

constexpr std::string_view readme =
    "ops-transformer: attention/nsa_selected_attention_grad/README.md";
constexpr std::string_view unit_tests =
    "ops-transformer: attention/nsa_selected_attention_grad/tests";
constexpr std::string_view later_page =
    "ops-transformer, later revision: aclnnNsaSelectedAttentionGrad.md";
constexpr std::string_view torch_front_end = "op-plugin: npu_nsa_select_attention";

std::vector<Contradiction> of_parameters() {
  return {
      {.id = "NSAS-Q1",
       .subject = "inputs and outputs",
       .claims = {{{selected_page, "parameters"},
                   "softmaxMaxOut, softmaxSumOut and attentionOut are outputs; attentionOutGrad, "
                   "dqOut, dkOut and dvOut are not listed."},
                  {{selected_page, "prototype"},
                   "softmaxMax, softmaxSum, attentionOut and attentionOutGrad are inputs; dqOut, "
                   "dkOut and dvOut are outputs."}},
       .reading = "The prototype decides: the table belongs to the forward operator."},
      {.id = "NSAS-Q2",
       .subject = "names in the table of return values",
       .claims = {{{selected_page, "return values"},
                   "The table names keyIn, dy, pseShiftOptional, dropMaskOptional, "
                   "paddingMaskOptional, softmaxMaxOptional, softmaxInOptional and "
                   "attentionInOptional."},
                  {{selected_page, "prototype"}, "No parameter has such a name."}},
       .reading = "keyIn means key, dy means attentionOutGrad, attentionInOptional means "
                  "attentionOut, and softmaxMaxOptional means softmaxMax; the other names do not "
                  "exist. The same codes apply to topkIndices."},
      {.id = "NSAS-Q3",
       .subject = "causes of 161002",
       .claims = {{{selected_page, "return values"},
                   "The table cell with 161002 spans three rows; only the rows about types and "
                   "formats have this code."},
                  {{upstream_selected_forward, "return values"},
                   "The third row says that the layout is not supported."}},
       .reading = "A layout other than TND is refused."},
      {.id = "NSAS-Q4",
       .subject = "the left sides of the formulas",
       .claims = {{{selected_page, "formulas"}, "They define V, Q and K."},
                  {{later_page, "formulas"}, "They define dV, dQ and dK."}},
       .reading = "dV, dQ and dK."},
      {.id = "NSAS-Q5",
       .subject = "factor of the scores",
       .claims = {{{selected_page, "formulas"}, "dQ and dK are divided by sqrt(d)."},
                  {{selected_page, "example"}, "scaleValue is 1.0 with d = 192."}},
       .reading = "The factor is scaleValue wherever a formula contains 1/sqrt(d)."},
      {.id = "NSAS-Q6",
       .subject = "dS and P",
       .claims = {{{selected_page, "formulas"},
                   "The formulas use dS and P without a definition, and do not use attentionOut."}},
       .reading = "The formulas are those of the gradient of a softmax, with a row term that is "
                  "computed from attentionOut."},
      {.id = "NSAS-Q7",
       .subject = "type of sparseMode",
       .claims = {{{selected_page, "parameters"}, "INT32."},
                  {{selected_page, "prototype"}, "int64_t."}},
       .reading = "int64_t."},
      {.id = "NSAS-Q8",
       .subject = "ranks",
       .claims = {{{selected_page, "parameters"}, "query and others have rank 3 or 4."},
                  {{selected_page, "constraints"}, "inputLayout is TND."}},
       .reading = "Rank 3."},
      {.id = "NSAS-Q9",
       .subject = "storage formats",
       .claims = {{{selected_page, "return values"}, "Formats that are not ND give 161002."},
                  {{selected_page, "example"}, "The example passes NCHW."}},
       .reading = "A kernel must refuse private formats. For other formats than ND, such as NCHW, "
                  "there is no requirement."},
      {.id = "NSAS-Q10",
       .subject = "masks of UINT8",
       .claims = {{{selected_page, "parameters"}, "attenMask is BOOL or UINT8."},
                  {{upstream_selected_tiling, "operator prototype"}, "attenMask is BOOL."}},
       .reading = "The page allows both types."},
      {.id = "NSAS-Q17",
       .subject = "names in the description",
       .claims = {{{selected_page, "formulas"},
                   "The description contains the names topkIndice and keyIn."},
                  {{selected_page, "prototype"}, "The names are topkIndices and key."}},
       .reading = "The names in the description are typing errors."},
  };
}

std::vector<Contradiction> of_values() {
  return {
      {.id = "NSAS-Q11",
       .subject = "Atlas A3",
       .claims = {{{selected_page, "products"}, "Atlas A3 does not offer the operator."},
                  {{upstream_selected_tiling, "operator prototype"},
                   "The operator is registered for A3."}},
       .reading = "Not offered."},
      {.id = "NSAS-Q12",
       .subject = "attentionOut",
       .claims = {{{readme, "parameters"}, "attentionOut is optional."},
                  {{selected_page, "prototype"}, "The name does not end in Optional."}},
       .reading = "Required."},
      {.id = "NSAS-Q13",
       .subject = "head sizes",
       .claims = {{{selected_page, "constraints"}, "D of key and of value are 192 or 128."},
                  {{upstream_selected_forward, "constraints"}, "Exactly 192 and 128."},
                  {{selected_page, "example"}, "192 and 192."}},
       .reading = "The page allows all combinations of 192 and 128."},
      {.id = "NSAS-Q14",
       .subject = "largest number of sequences",
       .claims = {{{selected_page, "constraints"}, "B is 1 to 2M."},
                  {{upstream_selected_forward, "constraints"}, "B is at most 1024."}},
       .reading = "The limit on the backward's own page applies."},
      {.id = "NSAS-Q15",
       .subject = "keys of a sequence",
       .claims =
           {{{selected_page, "constraints"},
             "Each sequence has at least selectedBlockSize * selectedBlockCount keys."},
            {{unit_tests, "op_host"},
             "Calls with 256 and 512 keys succeed although block size * block count is 1024."}},
       .reading = "The page forbids fewer keys, but the vendor's code accepts them."},
      {.id = "NSAS-Q16",
       .subject = "sparseMode 2 without a mask",
       .claims = {{{upstream_selected_forward, "sparseMode"},
                   "Without a mask sparseMode has no effect."},
                  {{upstream_selected_kernels, "mask"},
                   "In the backward the mode alone makes the mask causal."}},
       .reading = "Such a case is judged if the kernel accepts it. Its statistics are those of the "
                  "forward operator without a mask."},
      {.id = "NSAS-Q18",
       .subject = "layouts",
       .claims = {{{readme, "examples"}, "The example is for layouts other than TND."},
                  {{selected_page, "constraints"}, "inputLayout is TND."}},
       .reading = "TND."},
      {.id = "NSAS-Q19",
       .subject = "the mask in a test of the PyTorch binding",
       .claims = {{{torch_front_end, "tests"},
                   "For long sequences this mask keeps keys up to the product of block size and "
                   "count, not up to the query's position. The test is skipped."}},
       .reading = "This suite does not use that mask: a query keeps the listed keys up to its own "
                  "position."},
      {.id = "NSAS-Q20",
       .subject = "limits of the lists of blocks",
       .claims = {{{selected_page, "constraints"},
                   "Skv is at least selectedBlockSize * selectedBlockCount."},
                  {{selected_page, "example"},
                   "Skv equals selectedBlockSize "
                   "* selectedBlockCount."},
                  {{later_page, "constraints"},
                   "Skv is larger than selectedBlockSize * selectedBlockCount, this product is "
                   "below 8192, and selectedBlockCount is at most 128."}},
       .reading = "At least the product."},
      {.id = "NSAS-Q21",
       .subject = "results that the example prints",
       .claims = {{{selected_page, "example"}, "dv is read from the buffer of dk."}},
       .reading = "This is a writing error: dvOut is the third output."},
  };
}

}  // namespace

std::vector<Contradiction> selected_contradictions() {
  std::vector<Contradiction> all = of_parameters();
  const std::vector<Contradiction> more = of_values();
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

std::vector<Contradiction> nsa_open_points() {
  return {
      {.id = "NSAS-U4",
       .subject = "masks of UINT8 in the backward",
       .claims =
           {{{upstream_selected_tiling, "operator prototype"},
             "The prototype registers only BOOL. Nobody tested a mask of UINT8 on a device."}},
       .reading = "See NSAS-Q10."},
      {.id = "NSAS-U5",
       .subject = "sparseMode 2 without a mask; NsaCompressGrad without cumulative lengths",
       .claims = {{{upstream_selected_kernels, "mask"},
                   "No page says what the backward does without a mask."},
                  {{upstream_compress_tiling, "lengths"}, "No page says what a null array means."}},
       .reading = "A kernel may accept or refuse such calls. See NSAS-Q16 and NSAC-Q10."},
      {.id = "NSAS-U6",
       .subject = "M in limits such as 2M",
       .claims = {{{selected_page, "constraints"},
                   "The page does not say whether 2M is 2^21 or 2000000."}},
       .reading = "K means 1024 and M means 1024 * 1024."},
  };
}

}  // namespace assay::spec::detail
