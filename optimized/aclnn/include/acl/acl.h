#pragma once

/* Initialization of the process. Includes the whole runtime. Source: conventions 1.2 and 1.10. */

#include "acl/acl_base.h"
#include "acl/acl_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* configPath is not read. The environment variable ASSAY_ACLNN_PRODUCT selects the modelled
   product: a2 (default) or a3. In TND, the statistics have the memory order of the upstream code,
   unless ASSAY_ACLNN_STATISTICS sets it: statistics_order (for example tokens_first) for the entry
   points without softmaxInLayout; statistics_order_empty and statistics_order_same_as_input for the
   two values of softmaxInLayout. */
aclError aclInit(const char* configPath);

/* Waits for all streams and releases all remaining objects. */
aclError aclFinalize(void);

/* The message of the last failed call of this thread; NULL if no call failed since the last query.
   The text is valid until the next query in this thread. */
const char* aclGetRecentErrMsg(void);

#ifdef __cplusplus
}
#endif
