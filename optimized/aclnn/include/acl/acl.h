#pragma once

/* The process as a whole, and everything below it. Source: conventions 1.2 and 1.10. */

#include "acl/acl_base.h"
#include "acl/acl_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* configPath is not read. The modelled product is that of the environment variable
   ASSAY_ACLNN_PRODUCT: a2, the default, or a3. Statistics of TND are read as upstream's code does,
   or as ASSAY_ACLNN_STATISTICS says: statistics_order=tokens_first for the entry points without
   softmaxInLayout, statistics_order_empty and statistics_order_same_as_input for its two values. */
aclError aclInit(const char* configPath);

/* Waits for all streams and releases whatever is left. */
aclError aclFinalize(void);

/* Why the last call of this thread failed; NULL if none did since the last question. The text lives
   until this thread asks again. */
const char* aclGetRecentErrMsg(void);

#ifdef __cplusplus
}
#endif
