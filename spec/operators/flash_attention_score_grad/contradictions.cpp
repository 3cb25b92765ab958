#include "operators/contradiction_lists.hpp"
#include "operators/flash_attention_score_grad/table.hpp"

namespace assay::spec::detail {
namespace {

constexpr std::string_view forward_pages = "ops-transformer: attention/flash_attention_score/docs";
constexpr std::string_view forward_tiling =
    "ops-transformer: attention/flash_attention_score/op_host/"
    "flash_attention_score_tiling_general.cpp";
constexpr std::string_view unit_tests =
    "ops-transformer: attention/flash_attention_score_grad/tests";
constexpr std::string_view return_codes =
    "ops-transformer: docs/context/aclnn\u8fd4\u56de\u7801.md";
constexpr std::string_view torch_front_end = "op-plugin: npu_fusion_attention";

std::vector<Contradiction> of_shapes_and_sizes() {
  return {
      {.id = "FAG-Q1",
       .subject = "aclnnFlashAttentionUnpaddingScoreGrad on Atlas A3",
       .claims = {{{unpadding_page, "products"},
                   "Atlas A3 training products do not offer this entry point."},
                  {{upstream_page, "products, later revision"},
                   "Atlas A3 offers every entry point."}},
       .reading = "The table of Atlas products on the u1 page decides; the computation does not "
                  "depend on the Atlas product."},
      {.id = "FAG-Q2",
       .subject = "largest head size D",
       .claims = {{{operator_page, "constraints"}, "D is 1 to 512."},
                  {{unpadding_page, "constraints"}, "D is 1 to 512."},
                  {{rope_page, "constraints"}, "D is 1 to 768."},
                  {{upstream_page, "constraints"}, "D is 1 to 768."},
                  {{forward_tiling, "head size"}, "The forward refuses D above 512."}},
       .reading = "A kernel must accept D of 1 to 512, and on u3 D of 1 to 768. On other entry "
                  "points D of 513 to 768 is disputed."},
      {.id = "FAG-Q3",
       .subject = "shape of softmaxMax and softmaxSum of u3",
       .claims = {{{rope_page, "parameters"}, "The shape is [N,T,8]."},
                  {{rope_page, "constraints"}, "The shape is [T,N,8]."},
                  {{rope_page, "example"}, "The example passes [T,N,8]."}},
       .reading = "A call passes the shape [T,N,8]. FAG-Q4 covers the order in memory."},
      {.id = "FAG-Q4",
       .subject = "memory order of the softmax statistics of packed sequences",
       .claims =
           {{{unpadding_page, "constraints"}, "The format is [T,N,8]: tokens before heads."},
            {{rope_page, "parameters"}, "[N,T,8]: heads before tokens."},
            {{upstream_fourth_unpadding_page, "softmaxInLayout"},
             "\"same_as_input\" means that the data have the order NTD, \"\" means the order TND."},
            {{upstream_kernels, "the code that reads the statistics"},
             "Without the attribute, and with \"\", the order is sequences, heads, queries. With "
             "\"same_as_input\" it is tokens, heads."}},
       .reading = "The memory order is disputed: see the requirements that cite this point."},
      {.id = "FAG-Q5",
       .subject = "rank of the softmax statistics of packed sequences",
       .claims = {{{unpadding_page, "parameters"}, "softmaxMax and softmaxSum have rank 0 or 4."},
                  {{unpadding_page, "constraints"}, "In TND their format is [T,N,8]."}},
       .reading = "Rank 3 in TND."},
      {.id = "FAG-Q16",
       .subject = "masks of rank 4 for packed sequences",
       .claims = {{{unpadding_page, "parameters"},
                   "The shapes [B,N,Sq,Skv], [B,1,Sq,Skv], [1,1,Sq,Skv] and [Sq,Skv] are "
                   "supported."},
                  {{upstream_kernels, "the code that reads the mask"},
                   "A mask of rank 4 is read sequence by sequence without gaps."},
                  {{torch_front_end, "atten_mask"},
                   "The page describes only the shape [max Sq, max Skv]."}},
       .reading = "A kernel must accept [max Sq, max Skv] and [1,1,max Sq,max Skv]. For the other "
                  "shapes see the standing of the requirement."},
      {.id = "FAG-Q17",
       .subject = "shapes of pseShift for packed sequences",
       .claims = {{{unpadding_page, "parameters"},
                   "[B,N,S,S], [B,N,1,S], [1,N,S,S], [B,N,H,S] and [1,N,H,S] are supported."},
                  {{upstream_tiling, "pse checks"},
                   "Only shapes with 1024 rows and shapes with one axis are accepted."},
                  {{upstream_fourth_unpadding_page, "pseShift"},
                   "Only shapes with 1024 rows are listed."}},
       .reading = "On u1 the five listed shapes are documented. Only the vendor's code uses a "
                  "tensor with one axis."},
      {.id = "FAG-Q18",
       .subject = "smallest Sq of a bias of 1024 rows",
       .claims = {{{upstream_page, "pseShift"}, "Sq is larger than 1024."},
                  {{upstream_tiling, "pse checks"}, "Sq is at least 1024."}},
       .reading = "At Sq = 1024 the compressed bias equals the full bias, so no result depends on "
                  "this point."},
      {.id = "FAG-Q20",
       .subject = "shape of attentionIn where Dv < D",
       .claims = {{{unpadding_page, "parameters"}, "attentionIn has the shape of query."},
                  {{unpadding_page, "constraints"}, "The head size of value may be smaller."}},
       .reading = "The last axis of attentionIn has the size Dv, like that of dy."},
      {.id = "FAG-Q25",
       .subject = "largest number of sequences",
       .claims = {{{unpadding_page, "constraints"},
                   "actualSeqQLen has 1 to 2K entries, at most 1K with a prefix."},
                  {{unit_tests, "op_host"},
                   "A call with 2049 entries succeeds if the last "
                   "sequences are empty."}},
       .reading =
           "A kernel must accept 2K sequences, and 1K with a prefix. Larger numbers are disputed."},
      {.id = "FAG-Q37",
       .subject = "H in the shapes [B,N,H,S] and [1,N,H,S] of pseShift",
       .claims = {{{unpadding_page, "parameters"},
                   "The page does not define H for these shapes; elsewhere on the page H is the "
                   "hidden size."},
                  {{upstream_page, "pseShift"}, "H is 1024: the last 1024 query rows."}},
       .reading = "H = 1024."},
      {.id = "FAG-Q38",
       .subject = "storage formats",
       .claims = {{{unpadding_page, "return values"},
                   "Formats that are not supported give 161002; only ND is listed."},
                  {{upstream_entry, "format checks"}, "Only private formats are refused."},
                  {{"aclnnNsaSelectedAttentionGrad.md", "example"},
                   "The example passes NCHW for tensors of rank 3."}},
       .reading = "A kernel must refuse private formats. For other formats than ND, such as NCHW, "
                  "there is no requirement."},
  };
}

std::vector<Contradiction> of_positions() {
  return {
      {.id = "FAG-Q6",
       .subject = "sparseMode 6 of u3",
       .claims = {{{rope_page, "parameters"}, "sparseMode is 0 to 8, not 5 or 6."},
                  {{rope_page, "constraints"}, "prefixOptional works with sparseMode 6."}},
       .reading = "Modes 5 and 6 are refused."},
      {.id = "FAG-Q7",
       .subject = "pseType of u3",
       .claims = {{{rope_page, "parameters"}, "pseType is 1 only."},
                  {{rope_page, "constraints"}, "pseType is 0 or 1."},
                  {{upstream_tiling, "pse checks"}, "Without a pse only pseType 1 is accepted."}},
       .reading = "A kernel must accept pseType 1. pseType 0 is disputed; without a pse it has the "
                  "same meaning."},
      {.id = "FAG-Q9",
       .subject = "a position bias in sparseMode 8",
       .claims =
           {{{upstream_modes, "modes 7 and 8"}, "Mode 8 does not accept realShiftOptional."},
            {{unpadding_page, "constraints"},
             "Mode 8 accepts a bias if every sequence has equal numbers of queries and keys."}},
       .reading = "The page of u1 is more specific, so this suite follows that page. "
                  "(realShiftOptional is another name of pseShiftOptional.)"},
      {.id = "FAG-Q10",
       .subject = "start indices in sparseMode 8 of u3",
       .claims = {{{rope_page, "constraints"},
                   "The sentence about prefixOptional interrupts the sentence about "
                   "start indices."}},
       .reading = "The complete sentence is in aclnnFlashAttentionUnpaddingScoreGrad.md."},
      {.id = "FAG-Q11",
       .subject = "modes that ignore preTokens and nextTokens",
       .claims = {{{unpadding_page, "constraints"}, "Modes 1, 2, 3 and 5."},
                  {{forward_pages, "constraints"}, "Modes 1, 2, 3 and 6."}},
       .reading = "Modes 1, 2, 3, 5 and 6."},
      {.id = "FAG-Q12",
       .subject = "preTokens and nextTokens without a mask",
       .claims = {{{upstream_modes, "mode 0"},
                   "Without a mask preTokens and nextTokens are ignored."},
                  {{upstream_tiling, "token checks"},
                   "The ranges of preTokens and nextTokens are checked with and without a mask."}},
       .reading = "Without a mask no result depends on preTokens and nextTokens. A kernel that "
                  "refuses values outside the ranges does not fail."},
      {.id = "FAG-Q13",
       .subject = "limits of negative preTokens and nextTokens in mode 0",
       .claims = {{{upstream_modes, "mode 0"}, "|nextTokens| < Skv and |preTokens| < Sq."},
                  {{upstream_tiling, "token checks"}, "-nextTokens <= Sq and -preTokens <= Skv."}},
       .reading = "A kernel must accept a window that both sources allow."},
      {.id = "FAG-Q14",
       .subject = "preTokens + nextTokens = 0",
       .claims = {{{upstream_page, "constraints"}, "The two bounds of a band intersect."},
                  {{upstream_tiling, "token checks"},
                   "The sum 0 is accepted in padded layouts, and refused in TND with a mask."}},
       .reading = "In TND a kernel may accept or refuse the call."},
      {.id = "FAG-Q15",
       .subject = "sparseMode 7 and 8 in padded layouts",
       .claims = {{{upstream_page, "sparseMode"}, "sparseMode is 0 to 8."},
                  {{upstream_page, "sparseMode, later revision"}, "sparseMode is 0 to 6."},
                  {{upstream_tiling, "sparse mode checks"}, "7 and 8 are refused."}},
       .reading = "Modes 7 and 8 split packed sequences, which padded layouts do not have."},
      {.id = "FAG-Q19",
       .subject = "the square root in pseType 3",
       .claims = {{{upstream_page, "pseType"},
                   "The formula multiplies, adds, and then takes the square root."},
                  {{upstream_kernels, "generated bias"},
                   "The code takes the root of the distance before it multiplies by the slope and "
                   "adds."}},
       .reading = "The root applies to the distance, because a negative score has no square root."},
      {.id = "FAG-Q23",
       .subject = "factor of the scores",
       .claims = {{{operator_page, "formulas"}, "Scores, dQ and dK are divided by sqrt(d)."},
                  {{operator_page, "parameters"},
                   "scaleValue is the factor that multiplies query key^T."}},
       .reading = "The factor is scaleValue wherever a formula contains 1/sqrt(d)."},
      {.id = "FAG-Q24",
       .subject = "range of a prefix",
       .claims = {{{unpadding_page, "constraints"},
                   "The range is 0 to Skv if Sq > Skv, otherwise Skv - Sq to Skv."},
                  {{unit_tests, "op_host"}, "Sq = 1, Skv = 1024 with the prefix 32 succeeds."},
                  {{upstream_tiling, "prefix checks"}, "The range is not checked."}},
       .reading = "A kernel must accept the documented range. The mask is also well defined for "
                  "the other values from 0 to Skv."},
      {.id = "FAG-Q31",
       .subject = "mode 5 with a mask and no prefix",
       .claims = {{{upstream_modes, "mode 5"}, "Mode 5 needs a prefix."},
                  {{upstream_general_tiling, "prefix"},
                   "Without a usable prefix mode 5 counts as a full mask."}},
       .reading = "Mode 5 reads the user's mask, with and without a prefix: the results are the "
                  "same."},
      {.id = "FAG-Q34",
       .subject = "type of slopes",
       .claims = {{{operator_page, "constraints"},
                   "query, key, value and pseShift have the same type."},
                  {{upstream_page, "pseShift"}, "With pseType 2 and 3 pseShift is FLOAT."}},
       .reading = "For pseType 0 and 1 pseShift has the type of query; the type of slopes is "
                  "disputed."},
      {.id = "FAG-Q35",
       .subject = "the sign of the bias that is computed from slopes",
       .claims = {{{operator_page, "formulas"},
                   "One formula adds pse to the scaled dot product for pseType 0, 2 and 3."},
                  {{upstream_kernels, "generated bias"},
                   "For pseType 2 and 3, slope times distance is subtracted."}},
       .reading = "In the formula, pse means the tensor; for pseType 2 and 3 it means minus slope "
                  "times distance."},
  };
}

std::vector<Contradiction> of_the_rest() {
  return {
      {.id = "FAG-Q8",
       .subject = "types of u3",
       .claims = {{{rope_page, "parameters"}, "query is FLOAT16, BFLOAT16 or FLOAT32."},
                  {{rope_page, "parameters"}, "queryRope is BFLOAT16 and has the type of query."}},
       .reading = "BFLOAT16."},
      {.id = "FAG-Q21",
       .subject = "softmaxMaxOptional, softmaxSumOptional, attentionInOptional",
       .claims = {{{unpadding_page, "prototype"}, "The names end in Optional."},
                  {{upstream_tiling, "null checks"}, "A null pointer is refused."}},
       .reading = "These inputs are required: without them no gradient is defined."},
      {.id = "FAG-Q22",
       .subject = "dpseOut",
       .claims = {{{unpadding_page, "parameters"}, "The output is not used so far."},
                  {{upstream_fourth_unpadding_page, "parameters"},
                   "If pse is given, dpseOut has its shape and type."}},
       .reading = "The contents of dpseOut are never compared."},
      {.id = "FAG-Q26",
       .subject = "actualSeqQLen and actualSeqKvLen of g2",
       .claims = {{{upstream_page, "parameters, one revision"},
                   "The table lists actualSeqQLen and actualSeqKvLen."},
                  {{upstream_page, "prototype"}, "The prototype has no such parameters."}},
       .reading = "The prototype is right, the table is wrong."},
      {.id = "FAG-Q27",
       .subject = "status of a call that the planning step refuses",
       .claims = {{{return_codes, "codes"}, "161001 means that a required pointer is null."},
                  {{upstream_entry, "launch"},
                   "Every call that the planning step refuses returns "
                   "161001."}},
       .reading =
           "If the documentation names no code, any code except success is a correct refusal."},
      {.id = "FAG-Q28",
       .subject = "null pointers on u4",
       .claims = {{{unpadding_page, "return values"}, "A null required input gives 161001."},
                  {{upstream_entry, "null checks"},
                   "The check of u4 combines its conditions wrongly, so it never refuses a call."}},
       .reading = "A kernel must also refuse a null required input on u4."},
      {.id = "FAG-Q29",
       .subject = "keepProb",
       .claims = {{{unpadding_page, "parameters"}, "keepProb is the share of ones in dropMask."},
                  {{operator_page, "parameters"},
                   "keepProb is the probability of keeping; in dropMask 1 keeps and 0 drops."},
                  {{upstream_kernels, "dropout"},
                   "Kept values are divided by keepProb. No code counts the ones in dropMask, and "
                   "with keepProb 1 no code reads dropMask."}},
       .reading = "In every case the share of ones in dropMask is keepProb. With keepProb 1 all "
                  "bits are ones, so it does not matter whether a kernel reads them."},
      {.id = "FAG-Q30",
       .subject = "numbers of the example programs",
       .claims = {{{unpadding_page, "example"},
                   "The example copies float buffers into tensors of a 16-bit type."}},
       .reading = "The examples must run; the numbers that they print are not expected values."},
      {.id = "FAG-Q32",
       .subject = "zeros after the last cumulative length",
       .claims = {{{upstream_second_unpadding_page, "parameters"},
                   "The array may end with zeros: [2,5,9,0,0]."},
                  {{forward_tiling, "lengths"}, "A negative difference counts as length 0."},
                  {{upstream_general_tiling, "lengths"},
                   "The backward does not treat a negative "
                   "difference as length 0."}},
       .reading = "The expected answer to such an array depends on the entry point: see the "
                  "standing of the requirement."},
      {.id = "FAG-Q33",
       .subject = "parameters of g1 and g2",
       .claims = {{{operator_page, "parameters"},
                   "The table lacks the statistics, attentionIn, prefix, tokens, headNum, "
                   "inputLayout, sparseMode and pseType."},
                  {{operator_page, "constraints"},
                   "The text uses prefixOptional, inputLayout and pseType."}},
       .reading = "The parameters are those of the prototypes on the vendor's public pages."},
      {.id = "FAG-Q36",
       .subject = "actualSeqQLen and actualSeqKvLen",
       .claims = {{{unpadding_page, "parameters"},
                   "The arrays contain the actual lengths of the sequences."},
                  {{upstream_modes, "modes 7 and 8"},
                   "The examples show cumulative sums: 3, 5 for the lengths 3 and 2."},
                  {{torch_front_end, "actual_seq_qlen"}, "The lengths are accumulated."}},
       .reading = "The arrays contain cumulative sums of the lengths."},
      {.id = "FAG-Q39",
       .subject = "required and optional inputs",
       .claims = {{{unpadding_page, "parameters"},
                   "The page lists dropMask, paddingMask, attenMask and softmaxIn as inputs."},
                  {{unpadding_page, "example"},
                   "The example passes null pointers for three of these four tensors."}},
       .reading = "The page's column of inputs does not say which inputs are required."},
  };
}

}  // namespace

std::vector<Contradiction> flash_contradictions() {
  std::vector<Contradiction> all = of_shapes_and_sizes();
  for (const auto list : {of_positions, of_the_rest}) {
    const std::vector<Contradiction> of_list = list();
    all.insert(all.end(), of_list.begin(), of_list.end());
  }
  return all;
}

std::vector<Contradiction> flash_open_points() {
  return {
      {.id = "CV-O1",
       .subject = "bytes other than 0 and 1 in a mask",
       .claims =
           {{{unpadding_page, "parameters"},
             "The byte 1 masks a score and 0 keeps it; the page does not mention other bytes."}},
       .reading = "No case has such bytes."},
      {.id = "CV-O2",
       .subject = "masks of rank 4 for packed sequences",
       .claims = {{{unpadding_page, "parameters"},
                   "The page lists the shapes, but not the meaning of their axes for sequences of "
                   "different lengths."}},
       .reading = "The batch axis is the axis of sequences, and the head axis is the axis of query "
                  "heads. See FAG-Q16."},
      {.id = "CV-O3",
       .subject = "tokens after the last sequence",
       .claims = {{{unpadding_page, "constraints"},
                   "The sequences are packed along T "
                   "without gaps."},
                  {{upstream_kernels, "the code that clears the accumulators"},
                   "Rows that belong to no sequence are set to 0."}},
       .reading = "Their gradients are 0."},
      {.id = "CV-O4",
       .subject = "statistics of a query that attends to no key",
       .claims = {{{forward_pages, "innerPrecise"},
                   "With innerPrecise 2 fully masked rows are handled as invalid rows."},
                  {{forward_tiling, "invalid rows"},
                   "With other values of innerPrecise the statistics of such rows depend on the "
                   "tiling of the forward operator."}},
       .reading = "P is 0 in such a row, whatever its statistics."},
      {.id = "CV-O5",
       .subject = "mode 5 of packed sequences",
       .claims = {{{unpadding_page, "parameters"}, "sparseMode is 0 to 8."},
                  {{unpadding_page, "constraints"},
                   "A prefix works only in its compressed form, mode 6."},
                  {{upstream_modes, "mode 5"}, "Packed sequences do not support mode 5."}},
       .reading =
           "On packed entry points sparseMode 5 is disputed: a kernel may accept or refuse it."},
      {.id = "CV-O6",
       .subject = "NaN and infinity in inputs",
       .claims = {{{unpadding_page, "constraints"}, "The page does not mention NaN and infinity."},
                  {{upstream_kernels, "mask"},
                   "A masked score is replaced, so that its NaN does not spread; a NaN of dP at a "
                   "masked pair is multiplied by 0."}},
       .reading = "No judged pair depends on a NaN."},
  };
}

}  // namespace assay::spec::detail
