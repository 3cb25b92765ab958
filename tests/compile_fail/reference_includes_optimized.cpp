#include "assay/optimized/flash_attention_score_grad.hpp"  // offends: No such file|not found
#include "assay/reference/mask.hpp"
