/** @file
 * What a shared library offers to be judged by Assay, by
 * "assay sweep --implementation plugin:./libmine.so".
 *
 * The library exports one function, assay_plugin_v1, that returns a description of itself. Tensors
 * are raw strided buffers; everything else of a call is a list of named values. Names are those of
 * the documents in snake_case, without Optional, In and Out: query, softmax_max, scale_value, dq.
 * Every pointer that Assay passes is valid until the function returns; every text that the library
 * returns must stay valid until its next function is called. Functions are called by one thread at
 * a time.
 */
#ifndef ASSAY_PLUGIN_H
#define ASSAY_PLUGIN_H

#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The version that this header describes: the first member of assay_plugin. */
enum { assay_plugin_abi_version = 1 };

/** Element types. */
enum assay_dtype {
  assay_fp16 = 0,
  assay_bf16 = 1,
  assay_fp32 = 2,
  assay_fp64 = 3,
  assay_int8 = 4,
  assay_int16 = 5,
  assay_int32 = 6,
  assay_int64 = 7,
  assay_uint8 = 8,
  assay_uint16 = 9,
  assay_uint32 = 10,
  assay_uint64 = 11,
  assay_bool = 12, /**< one byte */
  assay_hifloat8 = 13,
  assay_float8_e5m2 = 14,
  assay_float8_e4m3fn = 15
};

/** Statuses with which a call is refused, those of aclnn. */
enum assay_status {
  assay_accepted = 0,
  assay_param_nullptr = 161001,
  assay_param_invalid = 161002,
  assay_inner_tiling_error = 561002
};

/** A tensor: element x of the view lies at storage element offset + sum of x[k] * strides[k]. A run
 * writes the viewed elements of outputs and no other byte. */
typedef struct assay_tensor {
  const char* name;
  int32_t dtype; /**< of enum assay_dtype */
  int32_t rank;
  const int64_t* shape;   /**< rank numbers */
  const int64_t* strides; /**< in elements */
  int64_t offset;         /**< in elements */
  const char* format;     /**< "ND", "NCHW", ...: as acl_base.h names it */
  void* storage;          /**< NULL where only the call is examined */
  int64_t storage_bytes;
  int32_t is_output;
  int32_t reserved;
} assay_tensor;

enum assay_kind { assay_integer = 0, assay_real = 1, assay_text = 2, assay_integers = 3 };

/** A named value: of its kind, the member below. */
typedef struct assay_value {
  const char* name;
  int32_t kind; /**< of enum assay_kind */
  int32_t reserved;
  int64_t integer;         /**< assay_integer; truth is 0 or 1 */
  double real;             /**< assay_real */
  const char* text;        /**< assay_text */
  const int64_t* integers; /**< assay_integers */
  int64_t count;           /**< of integers */
} assay_value;

/** One call of an operator. */
typedef struct assay_call {
  const char* operator_name; /**< "flash_attention_score_grad", ... */
  const char* entry_point;   /**< entry point, "g1" ..., "" where it is not known */
  const char* product;       /**< "a2", "a3", "" */
  /** Those that are not null pointers. One of rank 0 is as good as none: so a caller may pass an
   * optional tensor. Reserved ones, padding_mask, softmax_in, dpse, mean nothing; nor does what a
   * run writes into dpse. */
  const assay_tensor* tensors;
  int64_t tensor_count;
  /** The computation that the documents make of a legal call: layout, dtype, batch, ...,
   * the fields that `assay run <operator> --help` lists. Empty where the call is only examined: it
   * may be one that the documents forbid. */
  const assay_value* problem;
  int64_t problem_count;
  /** Attributes and host arrays as the caller gave them, null pointers left out, and 0 or 1 for
   * workspace_size and executor, whether these are no null pointers. Empty where only the
   * computation is known. */
  const assay_value* attributes;
  int64_t attribute_count;
} assay_call;

/** A quantity that the library reports of its last run, e.g. {"time", 1.5, "ms"}. The unit "regime"
 * says how often the run took a branch or a tail of the tiling, {"key_tile.tail", 3, "regime"}:
 * AXIS.VALUE of letters, digits and _, each once, a whole number of times. Reports have the first
 * 100 metrics. */
typedef struct assay_metric {
  const char* name;
  double value;
  const char* unit;
} assay_metric;

/** What the library offers. Functions that are NULL are not offered. */
typedef struct assay_plugin {
  int32_t abi_version; /**< assay_plugin_abi_version; always the first member */
  int32_t reserved;
  const char* name;
  const char* const* operators; /**< names, NULL behind the last */

  /** Why it does not offer the call at all (a feature that it never claimed), NULL: it does.
   * Without this function every call is offered. The problem is empty. */
  const char* (*unsupported)(const assay_call* call);

  /** The numerics that it declares for the problem, from which the tolerances are computed: the
   * name of a preset, see `assay list presets`, and fields that differ, "ascend_a2,order=fixed".
   * Without this function: fp32 throughout. Only the problem is there. */
  const char* (*numerics)(const assay_call* call);

  /** Phase 1: a status of enum assay_status, not 0 for a call that it refuses, then with a reason.
   * Without this function calls that the documents forbid are not judged. The problem is empty,
   * storages are NULL. */
  int32_t (*check)(const assay_call* call, const char** reason);

  /** Phase 2: fills the viewed elements of the outputs. 0, or a status and a reason: a legal call
   * refused, a failure. */
  int32_t (*run)(const assay_call* call, const char** reason);

  /** Fills those inputs of the problem that are results of the forward operator, of flash
   * attention: softmax_max, softmax_sum, attention_in. They are marked as outputs. As run
   * otherwise. */
  int32_t (*forward)(const assay_call* call, const char** reason);

  /** Of the last run; stores their number. */
  const assay_metric* (*metrics)(int64_t* count);
} assay_plugin;

/** What the library exports. */
const assay_plugin* assay_plugin_v1(void);

/** The tensor of that name, NULL: there is none. */
static inline const assay_tensor* assay_find_tensor(const assay_call* call, const char* name) {
  int64_t k;
  for (k = 0; k < call->tensor_count; ++k)
    if (strcmp(call->tensors[k].name, name) == 0) return &call->tensors[k];
  return NULL;
}

/** The value of that name among the problem's, NULL: there is none. */
static inline const assay_value* assay_find_field(const assay_call* call, const char* name) {
  int64_t k;
  for (k = 0; k < call->problem_count; ++k)
    if (strcmp(call->problem[k].name, name) == 0) return &call->problem[k];
  return NULL;
}

/** The same among the attributes. */
static inline const assay_value* assay_find_attribute(const assay_call* call, const char* name) {
  int64_t k;
  for (k = 0; k < call->attribute_count; ++k)
    if (strcmp(call->attributes[k].name, name) == 0) return &call->attributes[k];
  return NULL;
}

#ifdef __cplusplus
}
#endif

#endif
