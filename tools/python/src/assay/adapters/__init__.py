"""Attention gradients of others as implementations: assay.adapters.torch, .jax, .fla and .flash_attn (Triton), .npu (Ascend)."""
