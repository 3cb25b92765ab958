#include "operators/contradiction_lists.hpp"
#include "operators/sparse_flash_attention_grad/table.hpp"

namespace assay::spec::detail {

std::vector<Contradiction> sparse_flash_contradictions() {
  using sparse_flash::forward_page;
  using sparse_flash::host;
  using sparse_flash::kernels;
  using sparse_flash::later_page;
  using sparse_flash::page;
  constexpr std::string_view front_end = "op-plugin: npu_sparse_flash_attention_grad";
  constexpr std::string_view unit_tests =
      "ops-transformer: attention/sparse_flash_attention_grad/tests/ut";
  return {
      {.id = "SFAG-Q1",
       .subject = "lengths of several sequences",
       .claims = {{{page, "parameters"},
                   "The tensors contain the valid tokens of each sequence, and an accumulated sum "
                   "that agrees with T1."},
                  {{forward_page, "parameters"}, "They contain inclusive sums."},
                  {{kernels, "lengths"}, "The code reads inclusive sums."}},
       .reading = "Inclusive sums. The page allows 256 sequences, so a kernel must accept several "
                  "in TND."},
      {.id = "SFAG-Q2",
       .subject = "base of the indices",
       .claims = {{{page, "sparseIndices"}, "The page does not say what a number counts from."},
                  {{kernels, "gather"}, "The start of the query's own sequence is added."}},
       .reading = "Blocks are counted from the start of the query's own key sequence."},
      {.id = "SFAG-Q3",
       .subject = "the causal mask and the list",
       .claims = {{{forward_page, "golden"},
                   "The first entries count, and each key must be visible at its position."},
                  {{kernels, "mask"},
                   "If all visible keys fit into a list, the list is not read; otherwise the "
                   "positions of most keys are not tested."}},
       .reading = "Cases have lists for which all of these give the same keys (SFAG-C32)."},
      {.id = "SFAG-Q4",
       .subject = "order, duplicates and -1",
       .claims = {{{page, "sparseIndices"}, "The page does not mention them."},
                  {{forward_page, "golden"}, "Entries after the last block are -1."}},
       .reading = "The order has no meaning; a case has no duplicates, and -1 only at the end."},
      {.id = "SFAG-Q5",
       .subject = "dKeyOut if value is given",
       .claims = {{{page, "formulas"}, "It is the gradient of key alone."},
                  {{kernels, "sums"}, "dK and dV have separate sums, as in the formulas."}},
       .reading = "The two gradients are separate, although key and value have equal elements."},
      {.id = "SFAG-Q6",
       .subject = "a null value on Atlas A3",
       .claims = {{{page, "parameters"}, "Any product accepts it."},
                  {{later_page, "parameters"}, "A2 accepts it; A3 is not named."}},
       .reading = "The operator's own page applies."},
      {.id = "SFAG-Q7",
       .subject = "formulas",
       .claims = {{{page, "formulas"},
                   "The scores are divided by a root of the head size; a product of matrices "
                   "stands where elements are multiplied; the row term has no definition."},
                  {{page, "example"}, "scaleValue is 0.044194."}},
       .reading = "The factor is scaleValue, the product is elementwise, and the row term is the "
                  "sum of dOut * out."},
      {.id = "SFAG-Q8",
       .subject = "names in the description",
       .claims = {{{page, "parameters"},
                   "topkIndices, selectedBlockSize, selectedBlockCount and keyIn."},
                  {{page, "prototypes"}, "No parameter has such a name."}},
       .reading = "sparseIndices, sparseBlockSize, the entries of a list, and key."},
      {.id = "SFAG-Q9",
       .subject = "limits",
       .claims = {{{page, "constraints"},
                   "D is 512, S2 at most 1M, and a list has 1024 to 8192 entries."},
                  {{later_page, "constraints"}, "S2 is at most 128K; 2051 entries are legal."},
                  {{unit_tests, "op_host"}, "Calls with D = 128 and with 4 entries succeed."}},
       .reading = "Other sizes may be refused, and are judged if they are accepted."},
      {.id = "SFAG-Q10",
       .subject = "blocks of several tokens",
       .claims = {{{page, "constraints"}, "Blocks of 8 to 64 tokens are legal."},
                  {{kernels, "a report of a user"},
                   "Token numbers that were passed as block numbers gave infinities."}},
       .reading = "Legal: the report is about blocks outside the sequence."},
      {.id = "SFAG-Q11",
       .subject = "preTokens and nextTokens",
       .claims = {{{page, "parameters"}, "Only 2147483647 is legal; mode 4 uses them."},
                  {{front_end, "arguments"}, "The code passes 2^63 - 1, and mode 4 is not legal."}},
       .reading = "They have no effect; other values may be refused."},
      {.id = "SFAG-Q12",
       .subject = "mode 3",
       .claims = {{{page, "sparseMode"}, "A triangle at the right vertex."},
                  {{forward_page, "sparseMode"}, "The triangle ends at the lower right."}},
       .reading = "The last query sees all keys."},
      {.id = "SFAG-Q13",
       .subject = "strided outputs",
       .claims = {{{page, "parameters"},
                   "The newest revision forbids them, the first allowed them."}},
       .reading = "Outputs of cases are contiguous."},
      {.id = "SFAG-Q14",
       .subject = "a null layout",
       .claims = {{{page, "prototypes"}, "The name ends in Optional."},
                  {{page, "parameters"}, "The table does not call it optional."}},
       .reading = "Cases always pass a layout."},
      {.id = "SFAG-Q15",
       .subject = "deterministic",
       .claims = {{{page, "parameters"}, "It follows the setting of the framework."},
                  {{host, "tiling"}, "The code reads only the setting of the context."}},
       .reading = "It has no effect on the values."},
  };
}

}  // namespace assay::spec::detail
