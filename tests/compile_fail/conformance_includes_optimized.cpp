#include "assay/conformance/case/case.hpp"
#include "assay/optimized/flash_attention_score_grad.hpp"  // offends: No such file|not found
