#include "assay/conformance/result/verdict.hpp"  // offends: No such file|not found
#include "assay/optimized/flash_attention_score_grad.hpp"
