"""Attention gradients of other projects: assay.adapters.torch, .jax, .fla and .flash_attn (Triton), .npu (Ascend)."""
