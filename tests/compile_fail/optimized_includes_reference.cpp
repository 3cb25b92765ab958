#include "assay/optimized/flash_attention_score_grad.hpp"
#include "assay/reference/real.hpp"  // offends: No such file|not found
